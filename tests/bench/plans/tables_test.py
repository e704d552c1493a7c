"""Rows in, tables out."""
# SPDX-License-Identifier: Apache-2.0

import pathlib
import subprocess
import sys
import tempfile
import unittest
import xml.dom.minidom

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import figures  # noqa: E402
import measuring  # noqa: E402
import page  # noqa: E402
import plot  # noqa: E402
import prediction_table  # noqa: E402
import quality_table  # noqa: E402
import rivals_table  # noqa: E402
import rows  # noqa: E402
import scale_table  # noqa: E402
import search_speed_table  # noqa: E402

QUALITY = """\
key seed machine memory nodes placements lowered best_us auto_us auto_strategy best_placement refusal
whole/1 1 two_GPUs ample 8 256 256 100 100 list v0=gpu:0 -
whole/2 2 two_GPUs ample 8 256 256 100 104 list v0=gpu:0 -
whole/3 3 two_GPUs tight 9 512 7 100 150 list v0=gpu:1 -
whole/4 4 two_GPUs tight 9 512 7 100 - - v0=gpu:1 full
whole/5 5 two_GPUs tight 9 512 0 - - - - full
split/1 1 two_GPUs ample 3 125 100 200 100 search v0=gpu:0 -
"""

RIVALS = """\
key model machine rival auto_us rival_us auto_strategy auto_refusal rival_refusal
m/a/list m a list 1000 1000 search - -
m/a/split m a split 1000 900 search - -
m/b/list m b list 2000 2000 search - -
m/b/split m b split 2000 1970 search - -
n/a/list n a list - 500 - full -
n/b/list n b list 100 - single - full
"""

PREDICTION = """\
key model strategy host devices measured_us least_us most_us roofline_us profile_us refusal
m/single m single cpu 1 1000 900 1100 500 1100 -
m/data m data cpu 2 2000 1900 2100 1000 1900 -
n/single n single cpu 1 3000 2900 3100 3000 4500 -
n/split n split cpu - - - - - - no_dimension
"""

SCALE = """\
key model strategy nodes devices device_kind micro-batches commands compile_s simulate_s prove_s peak_MiB host failure
a inference list 1000 8 cpus 1 500 1.0 - - 100 cpu -
b inference list 2000 8 cpus 1 1000 2.0 - - 200 cpu -
c inference list 4000 8 cpus 1 2000 4.0 - - 400 cpu -
d inference list 8000 8 cpus 1 - - - - 900 cpu ended
e inference list 1000 16 cpus 1 500 4.0 - - 100 cpu -
f inference list 1000 32 cpus 1 500 16.0 - - 100 cpu -
g inference pipeline 1000 8 cpus 190 1000000 9.0 8.5 7.5 1500 cpu -
"""

SEARCH_SPEED = """\
key model computing_nodes devices begin_s rounds evaluations evaluations/s host
a layers 100 8 0.01 1 100 1000 cpu
b layers 1000 8 0.02 1 100 100.4 cpu
c layers 10000 8 1.5 1 16 10 cpu
d layers 1000 2 0.01 1 100 200 cpu
"""


def written(text, folder, name="rows.tsv"):
    """The text, with tabs for spaces, spaces for underscores and nothing for dashes alone, as a file."""
    lines = [[("" if word == "-" else word.replace("_", " ")) for word in line.split(" ")] for line in text.splitlines()]
    path = pathlib.Path(folder) / name
    path.write_text("".join("\t".join(line) + "\n" for line in lines), encoding="utf-8")
    return path


def rows_of(text):
    with tempfile.TemporaryDirectory() as folder:
        return rows.read(written(text, folder))


class Quality(unittest.TestCase):
    def test_tables_are_by_machine_and_memory(self):
        self.assertEqual(quality_table.tables(rows_of(QUALITY)), """\
Each node whole on one device: seeds 1 to 5, 2,048 placements tried.

| machine, memory | problems | within 5 % | median | 90 % | 99 % | worst | refused |
| --- | --- | --- | --- | --- | --- | --- | --- |
| two GPUs, ample | 2 | 100.0 % | 1.00 | 1.04 | 1.04 | 1.04 (whole/2) | 0 |
| two GPUs, tight | 2 | 0.0 % | 1.50 | 1.50 | 1.50 | 1.50 (whole/3) | 1 |
| all | 4 | 50.0 % | 1.04 | 1.50 | 1.50 | 1.50 (whole/3) | 1 |

No placement fits in 1 more problems.

Nodes whole, split, or on several devices: seeds 1 to 1, 125 placements tried.

| machine, memory | problems | within 5 % | median | 90 % | 99 % | worst | refused |
| --- | --- | --- | --- | --- | --- | --- | --- |
| two GPUs, ample | 1 | 100.0 % | 0.50 | 0.50 | 0.50 | 0.50 (split/1) | 0 |
| all | 1 | 100.0 % | 0.50 | 0.50 | 0.50 | 0.50 (split/1) | 0 |
""")

    def test_refusals_alone_have_no_ratios(self):
        only = [row for row in rows_of(QUALITY) if row["key"] == "whole/4"]
        self.assertIn("| all | 1 | - | - | - | - | - | 1 |", quality_table.tables(only))


class Rivals(unittest.TestCase):
    def test_what_beats_auto_is_listed(self):
        self.assertEqual(rivals_table.tables(rows_of(RIVALS)), """\
| best rival's step over auto's | a | b |
| --- | --- | --- |
| m | 0.90 | 0.98 |
| n | refused | no plan |

6 rivals, 5 with a plan; in 2 of 4 pairs of model and machine one is more than 2 % faster than auto.

| model | machine | fastest rival | auto | rival | rival over auto |
| --- | --- | --- | --- | --- | --- |
| n | a | list | refused | 500 us | 0.00 |
| m | a | split | 1 ms | 900 us | 0.90 |
""")


class Prediction(unittest.TestCase):
    def test_errors_and_ranks(self):
        self.assertEqual(prediction_table.tables(rows_of(PREDICTION)), """\
On cpu: 3 plans.

| predicted | mean error | worst | Spearman |
| --- | --- | --- | --- |
| by rooflines | 33.3 % | 50.0 % (m/single) | 1.000 |
| by the profile | 21.7 % | 50.0 % (n/single) | 1.000 |

Rounds of one plan differ by a factor of 1.11 (median of most over least).

| model | strategy | devices | measured (least to most) | by rooflines | error | by the profile | error |
| --- | --- | --- | --- | --- | --- | --- | --- |
| m | single | 1 | 1 ms (900 us to 1.1 ms) | 500 us | 50 % | 1.1 ms | 10 % |
| m | data | 2 | 2 ms (1.9 ms to 2.1 ms) | 1 ms | 50 % | 1.9 ms | 5 % |
| n | single | 1 | 3 ms (2.9 ms to 3.1 ms) | 3 ms | 0 % | 4.5 ms | 50 % |

Without a plan: n/split.
""")


class Scale(unittest.TestCase):
    def test_exponents_are_of_series(self):
        self.assertEqual(scale_table.exponent_lines(rows_of(SCALE)),
                         [["inference by list, 8 cpus", "nodes", "1,000 to 4,000", "1.00"],
                          ["inference by list, 1,000 nodes", "devices", "8 to 32", "2.00"]])

    def test_every_row_is_a_line(self):
        text = scale_table.tables(rows_of(SCALE))
        self.assertIn("| inference | list | 8,000 | 8 cpus | 1 | ended |  |  |  | 900 |", text)
        self.assertIn("| inference | pipeline | 1,000 | 8 cpus | 190 | 1,000,000 | 9.00 s | 8.50 s | 7.50 s | 1,500 |", text)

    def test_the_picture_has_both_series(self):
        picture = xml.dom.minidom.parseString(scale_table.picture(rows_of(SCALE)))
        self.assertEqual(len(picture.getElementsByTagName("polyline")), 2)
        self.assertEqual(len(picture.getElementsByTagName("circle")), 6)


class SearchSpeed(unittest.TestCase):
    def test_tables_have_rows_and_exponents(self):
        self.assertEqual(search_speed_table.tables(rows_of(SEARCH_SPEED)), """\
On cpu:

| model | computing nodes | devices | evaluations a second | begin |
| --- | --- | --- | --- | --- |
| layers | 100 | 8 | 1,000 | 10 ms |
| layers | 1,000 | 8 | 100 | 20 ms |
| layers | 10,000 | 8 | 10 | 1.5 s |
| layers | 1,000 | 2 | 200 | 10 ms |

Exponents: the seconds of an evaluation grow as the number of nodes to this power.

| series | from, to | exponent |
| --- | --- | --- |
| layers, 8 devices | 100 to 10,000 | 1.00 |
""")


class Plot(unittest.TestCase):
    def test_axes_include_all_values(self):
        self.assertEqual(plot.decades([3, 250]), [1, 10, 100, 1000])
        self.assertEqual(plot.decades([10]), [10, 100])

    def test_decades_are_equally_far(self):
        axis = plot.Axis([1, 100], 50, 250)
        self.assertEqual([axis.at(1), axis.at(10), axis.at(100)], [50, 150, 250])

    def test_names_are_escaped(self):
        self.assertIn("a &lt; b", plot.svg([plot.Panel("a < b", "x", "y", {"s": [(1, 1)]})]))

    def test_without_series_there_is_an_empty_picture(self):
        xml.dom.minidom.parseString(plot.svg([plot.Panel("t", "x", "y", {})]))


class Figures(unittest.TestCase):
    def test_percentiles_are_values(self):
        values = list(range(1, 101))
        self.assertEqual([figures.percentile(values, p) for p in (1, 50, 99, 100)], [1, 50, 99, 100])
        self.assertEqual(figures.percentile([7], 99), 7)

    def test_equal_values_have_the_mean_of_their_ranks(self):
        self.assertEqual(figures.ranks([30, 10, 30, 20]), [3.5, 1, 3.5, 2])

    def test_ranks_alone_decide_spearman(self):
        self.assertAlmostEqual(figures.spearman([1, 2, 3], [10, 1000, 1001]), 1)
        self.assertAlmostEqual(figures.spearman([1, 2, 3], [3, 2, 1]), -1)
        self.assertEqual(figures.spearman([1, 1, 1], [3, 2, 1]), 0)

    def test_an_exponent_fits_all_points(self):
        self.assertAlmostEqual(figures.exponent([(x, 3 * x ** 1.5) for x in (1, 10, 70)]), 1.5)

    def test_times_have_units(self):
        self.assertEqual([figures.time_text(s) for s in (1.5, 0.0123, 45e-6, 1234)], ["1.5 s", "12.3 ms", "45 us", "1234 s"])


class Rows(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = pathlib.Path(self.folder.name) / "new" / "rows.tsv"

    def test_no_file_has_no_rows(self):
        self.assertEqual(rows.read(self.path), [])

    def test_a_file_is_added_to_under_one_header(self):
        for line in ("1\tx\n", "2\ty\n"):
            appender = rows.Appender(self.path)
            appender.add_header("key\ta\n")
            appender.add(line)
            appender.close()
        self.assertEqual(rows.read(self.path), [{"key": "1", "a": "x"}, {"key": "2", "a": "y"}])

    def test_other_columns_are_refused(self):
        appender = rows.Appender(self.path)
        appender.add_header("key\ta\n")
        appender.close()
        appender = rows.Appender(self.path)
        self.addCleanup(appender.close)
        with self.assertRaisesRegex(ValueError, "found other columns than the benchmark's; expected key b"):
            appender.add_header("key\tb\n")

    def test_an_unfinished_line_is_dropped(self):
        self.path.parent.mkdir()
        self.path.write_text("key\ta\n1\tx\n2\t")
        rows.Appender(self.path).close()
        self.assertEqual(self.path.read_text(), "key\ta\n1\tx\n")

    def test_faults_name_their_lines(self):
        self.path.parent.mkdir()
        for text, fault in (("a\tb\n", ":1: found no column `key` first"), ("", ":1: found no column"),
                            ("key\ta\n1\n", ":2: found 1 cells; expected 2"),
                            ("key\ta\n1\tx\n1\ty\n", ":3: found a second row 1")):
            self.path.write_text(text)
            with self.assertRaisesRegex(ValueError, fault):
                rows.read(self.path)


PROGRAM = """\
import sys
if sys.argv[1:] == ["--keys"]:
    print("a b c d e f".replace(" ", chr(10)))
    sys.exit()
print("key\\tlength")
for key in sys.argv[1:]:
    if key == "f":
        sys.exit("f has no length")
    print(f"{key}\\t1")
"""


class Measuring(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name) / "rows.tsv"
        self.command = [sys.executable, "-c", PROGRAM]
        # The progress.
        self.addCleanup(setattr, sys, "stderr", sys.stderr)
        sys.stderr = open(pathlib.Path(folder.name) / "progress", "w")
        self.addCleanup(sys.stderr.close)

    def keys(self):
        return sorted(row["key"] for row in rows.read(self.path))

    def test_only_missing_rows_are_measured(self):
        self.assertEqual(measuring.measure(self.command, self.path, first=2, last=3), 2)
        self.assertEqual(self.keys(), ["b", "c"])
        self.assertEqual(measuring.measure(self.command, self.path, last=5, jobs=2), 3)
        self.assertEqual(self.keys(), ["a", "b", "c", "d", "e"])
        self.assertEqual(measuring.measure(self.command, self.path, last=5), 0)

    def test_an_error_keeps_the_rows_before_it(self):
        with self.assertRaisesRegex(measuring.Failed, "f has no length"):
            measuring.measure(self.command, self.path)
        self.assertEqual(self.keys(), ["a", "b", "c", "d", "e"])

    def test_jobs_have_as_many_keys(self):
        self.assertEqual(measuring.slices("abcde", 2), ["ab", "cde"])
        self.assertEqual(measuring.slices("ab", 5), ["a", "b"])
        self.assertEqual(measuring.slices("", 5), [])


class Page(unittest.TestCase):
    def test_a_block_is_replaced(self):
        begin, end = page.markers("scale")
        text = f"before\n{begin}old\n{end}after\n"
        self.assertEqual(page.fill(text, "scale", "new\n"), f"before\n{begin}new\n{end}after\n")

    def test_a_page_without_the_block_is_refused(self):
        begin, end = page.markers("scale")
        for text in ("", begin, end + begin, begin + end + begin + end):
            with self.assertRaisesRegex(ValueError, "found not one block scale"):
                page.fill(text, "scale", "new\n")

    def test_blocks_with_rows_are_written(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "page.md"
            path.write_text("".join(begin + end for begin, end in map(page.markers, page.TABLES)))
            written(SCALE, folder, "scale.tsv")
            self.assertEqual(page.update(path, pathlib.Path(folder)), ["quality", "rivals", "prediction", "search_speed"])
            text = path.read_text()
            self.assertIn("| inference by list, 8 cpus | nodes |", text)
            self.assertIn("[Rows](scale.tsv), and [a picture](scale.svg).\n", text)
            self.assertEqual(text.count("\n\n\n"), 0)
            self.assertEqual(sorted(p.name for p in pathlib.Path(folder).iterdir()), ["page.md", "scale.svg", "scale.tsv"])
            page.update(path, pathlib.Path(folder))
            self.assertEqual(path.read_text(), text)

    def test_the_page_shows_the_rows_that_are_kept(self):
        text = page.PAGE.read_text(encoding="utf-8")
        for name in page.TABLES:
            with self.subTest(name):
                kept = rows.read(page.rows_file(page.RESULTS, name))
                begin, end = page.markers(name)
                shown = text.split(begin)[1].split(end)[0]
                expected = page.block(name, kept, page.RESULTS, page.PAGE.parent) if kept else ""
                self.assertEqual(shown, expected, "the page is not that of the rows: tests/bench/plans/run page")


class Run(unittest.TestCase):
    def run_with(self, *words):
        return subprocess.run([sys.executable, HERE / "run", *words], capture_output=True, text=True)

    def test_every_command_has_help(self):
        for name in [*page.TABLES, "page"]:
            done = self.run_with(name, "--help")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("--results FOLDER", done.stdout)

    def test_a_wrong_call_is_refused(self):
        self.assertIn("invalid choice: 'x'", self.run_with("x").stderr)
        self.assertIn("found 0; expected 1 or more", self.run_with("quality", "--from", "0").stderr)

    def test_a_damaged_file_is_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "scale.tsv").write_text("key\ta\n1\n")
            done = self.run_with("page", "--results", folder)
            self.assertEqual(done.returncode, 1)
            self.assertIn("scale.tsv:2: found 1 cells; expected 2", done.stderr)


if __name__ == "__main__":
    unittest.main()
