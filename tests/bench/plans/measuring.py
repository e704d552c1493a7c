"""Runs the programs that measure rows, for those that a file lacks."""
# SPDX-License-Identifier: Apache-2.0

import subprocess
import sys
import threading

import rows


class Failed(Exception):
    """A benchmark ended with an error; its message is that of the benchmark."""


def keys_of(command):
    done = subprocess.run([*command, "--keys"], capture_output=True, text=True)
    if done.returncode != 0:
        raise Failed(done.stderr.strip())
    return done.stdout.split()


def missing(keys, known, first, last):
    """Of the keys numbered from `first` to `last`, from 1, those that are not known."""
    return [key for key in keys[first - 1:last] if key not in known]


def slices(keys, count):
    """In `count` runs of nearly the same length, fewer if there are fewer keys."""
    count = min(count, len(keys))
    borders = [i * len(keys) // count for i in range(count + 1)] if count else [0]
    return [keys[a:b] for a, b in zip(borders, borders[1:])]


class Measurement:
    """Programs that measure at the same time, and the file that gets their rows."""

    def __init__(self, command, path):
        self.command = command
        self.appender = rows.Appender(path)
        self.lock = threading.Lock()
        self.errors = []
        self.measured = 0
        self.wanted = 0

    def run(self, keys, jobs):
        self.wanted = len(keys)
        threads = [threading.Thread(target=self._run_one, args=(run,)) for run in slices(keys, jobs)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.appender.close()
        if self.errors:
            raise Failed("\n".join(self.errors))

    def _run_one(self, keys):
        program = subprocess.Popen([*self.command, *keys], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        # Read meanwhile, or a full pipe would stop the program.
        messages = []
        reader = threading.Thread(target=lambda: messages.append(program.stderr.read()))
        reader.start()
        try:
            self._store(program.stdout)
        except ValueError as error:
            program.kill()
            messages.append(str(error))
        reader.join()
        if program.wait() != 0:
            with self.lock:
                self.errors.append("".join(messages).strip() or f"{self.command[0]}: exit {program.returncode}")

    def _store(self, lines):
        for number, line in enumerate(lines):
            with self.lock:
                if number == 0:
                    self.appender.add_header(line)
                    continue
                self.appender.add(line)
                self.measured += 1
                key = rows.cells_of(line)[0]
                print(f"{self.measured} of {self.wanted}: {key}", file=sys.stderr, flush=True)


def measure(command, path, first=1, last=None, jobs=1):
    """Adds the missing rows among those numbered `first` to `last` to the file. Returns how many there were."""
    rows.drop_unfinished(path)
    known = {row["key"] for row in rows.read(path)}
    wanted = missing(keys_of(command), known, first, last)
    if wanted:
        Measurement(command, path).run(wanted, jobs)
    return len(wanted)
