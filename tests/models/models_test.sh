#!/usr/bin/env bash
# The PP-OCR models over two devices, if they can be fetched.
# SPDX-License-Identifier: Apache-2.0
set -eu
export PYTHONDONTWRITEBYTECODE=1
exec python3 tests/models/check --partita tools/partita/partita --devices 2 --chaos 4 \
  --only ppocr_direction,ppocr_recognition,ppocr_detection
