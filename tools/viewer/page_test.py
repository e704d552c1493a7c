# Uses the page like a person, in a headless browser, with real mouse and key events.
# SPDX-License-Identifier: Apache-2.0
"""usage: page_test.py PARTITA GRAPH MACHINE"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import browser

# A model's values may have any names.
HOSTILE = '%"</script><img onerror=alert(1)>"'


# One node, fed and fetched 1,500 times a step.
MICRO_BATCHES = """graph @f(%x: i8[1]) -> i8[1] {
  %a = neg %x : i8[1] on cpu:0 by reference.eval
  return %a as y
}
plan @f {
  device cpu:0 cpu memory 2
    arena persistent 0 step 2
  entry @f of @f depth 1 {
    input x i8[1500]
    output y i8[1500]
    arena cpu:0
    !x 0 1
    !a 1 1
    stream cpu:0/s
    program first buffers 0 events 0 {
    stream cpu:0/s
    0 feed -> !x input 0
    1 kernel %a (!x) -> !a
    2 fetch !a output 0
    }
    schedule
"""


def make_page(folder):
    """A plan over two devices with a measured step, drawn; and its copy without the step."""
    graph, plan, trace = (os.path.join(folder, name) for name in ("mlp.graph", "mlp.plan", "mlp.json"))
    with open(GRAPH, encoding="utf-8") as f:
        text = re.sub(r"%g\b", "%0", re.sub(r"%l\b", lambda _: HOSTILE, f.read()))
    with open(graph, "w", encoding="utf-8") as f:
        f.write(text)

    def partita(*words):
        subprocess.run([PARTITA, *words], check=True, stdout=subprocess.DEVNULL)

    partita("compile", graph, "--machine", MACHINE, "--pin", "hidden=cpu:0", "--pin", "classifier=cpu:1",
            "--output", plan)
    partita("run", plan, "--virtual", "--trace", trace)
    partita("view", plan, "--trace", trace, "--output", os.path.join(folder, "page.html"))
    partita("view", plan, "--output", os.path.join(folder, "predicted.html"))


class Page(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp()
        make_page(cls.folder)
        cls.browser = browser.Browser(cls.folder, 1400, 900)

    @classmethod
    def tearDownClass(cls):
        cls.browser.close()
        shutil.rmtree(cls.folder, ignore_errors=True)

    def setUp(self):
        self.open("page.html")

    def tearDown(self):
        self.assertEqual("", self.value("document.getElementById('errors').textContent"))
        self.assertEqual([], self.browser.exceptions)

    def open(self, name, fragment=""):
        self.browser.open(os.path.join(self.folder, name), fragment)

    def value(self, expression):
        return self.browser.value(expression)

    def count(self, selector):
        return self.value("document.querySelectorAll(%s).length" % json.dumps(selector))

    def text(self, selector):
        return self.value("document.querySelector(%s)?.textContent" % json.dumps(selector))

    def selected(self):
        return self.value("document.querySelector('[data-selected]')?.dataset.selected")

    def box(self, name):
        """The selector of a node's box in the graph."""
        index = self.value("DATA.entries[0].boxes.findIndex((b) => b.name === %s)" % json.dumps(name))
        self.assertGreaterEqual(index, 0, name)
        return '.box[data-box="%d"]' % index

    def test_the_whole_plan_is_on_the_page(self):
        self.assertIsNone(self.selected())
        self.assertEqual(self.value("DATA.entries[0].boxes.length"), self.count(".box"))
        self.assertGreaterEqual(self.count(".edge.cut"), 1)
        self.assertEqual(2, self.count("path[data-memory]"))
        self.assertEqual("mlp", self.text("#plan-name"))
        self.assertIn("predicted step", self.text("#figures"))

    def test_hostile_names_stay_text(self):
        self.assertEqual(0, self.count("img"))
        self.assertIn(HOSTILE, self.text("#graph"))

    def test_a_click_selects_the_node_with_reason_and_costs(self):
        self.browser.click(self.box("%p"))
        self.assertEqual("%p", self.selected())
        panel = self.text("#tab-node")
        for part in ("softmax", "cpu:1", "pinned", " predicted", " measured"):
            self.assertIn(part, panel)
        self.assertEqual(1, self.count(self.box("%p") + ".on"))
        self.assertGreaterEqual(self.count(".command.on"), 2)  # predicted and measured
        self.assertEqual("#select=%25p", self.value("location.hash"))

    def test_a_click_beside_every_box_selects_nothing(self):
        self.browser.click(self.box("%p"))
        left, top = self.value("[graph.getBoundingClientRect().left, graph.getBoundingClientRect().top]")
        self.browser.drag((left + 3, top + 3), (left + 3, top + 3))
        self.assertIsNone(self.selected())

    def test_the_search_finds_and_selects_a_node(self):
        self.browser.click("#search")
        self.browser.type("softmax")
        self.assertEqual(["%p"], self.value("[...document.querySelectorAll('[data-hit]')].map((n) => n.dataset.hit)"))
        self.assertEqual(1, self.count(self.box("%p") + ".hit"))
        self.browser.click("[data-hit]")
        self.assertEqual("%p", self.selected())

    def test_enter_selects_the_best_hit(self):
        self.browser.click("#search")
        self.browser.type("classifier")
        self.browser.press_enter()
        self.assertIn(self.selected(), (HOSTILE, "%p"))

    def test_a_search_for_nothing_says_so(self):
        self.browser.click("#search")
        self.browser.type("no such thing")
        self.assertIn("no node of that name", self.text("#hits"))
        self.assertEqual(0, self.count(".box.hit"))

    def test_values_without_a_name_are_called_by_number(self):
        names = self.value("DATA.entries[0].boxes.map((b) => b.name)")
        self.assertIn("%0", names)

    def test_the_wheel_zooms_where_the_mouse_is(self):
        box = self.box("%p")
        before, at = self.value("state.view.k"), self.browser.middle(box)
        self.browser.wheel(at, -400)
        self.browser.wait_for("state.view.k > %r" % before)
        after = self.browser.middle(box)
        self.assertAlmostEqual(at[0], after[0], delta=2)
        self.assertAlmostEqual(at[1], after[1], delta=2)
        self.browser.click("#fit")
        self.browser.wheel(at, 400)
        self.browser.wait_for("state.view.k < %r" % before)

    def test_a_drag_pans_and_selects_nothing(self):
        box = self.box("%p")
        before = self.browser.middle(box)
        self.browser.drag(before, (before[0] + 70, before[1] - 40))
        after = self.browser.middle(box)
        self.assertAlmostEqual(before[0] + 70, after[0], delta=1)
        self.assertAlmostEqual(before[1] - 40, after[1], delta=1)
        self.assertIsNone(self.selected())

    def test_a_scope_folds_and_opens(self):
        group = self.value("DATA.entries[0].groups.findIndex((g) => g.name === 'hidden')")
        boxes = self.count(".box")
        inner = self.value("DATA.entries[0].groups[%d].items.filter(([kind]) => kind === 'box').length" % group)
        self.assertGreaterEqual(inner, 1)
        self.browser.click('.fold.title[data-group="%d"]' % group)
        self.assertEqual(boxes - inner, self.count(".box"))
        self.assertIn("hidden", self.text('.fold[data-group="%d"]' % group))
        self.browser.click('.fold[data-group="%d"]' % group)
        self.assertEqual(boxes, self.count(".box"))

    def test_fold_all_and_unfold_all(self):
        boxes = self.count(".box")
        self.browser.click("#fold")
        self.assertLess(self.count(".box"), boxes)
        self.assertEqual(0, self.count(".fold.open.title"))
        self.browser.click("#unfold")
        self.assertEqual(boxes, self.count(".box"))

    def test_a_search_opens_the_fold_that_hides_the_node(self):
        self.browser.click("#fold")
        self.assertEqual(0, self.count(self.box("%p")))
        self.browser.click("#search")
        self.browser.type("softmax")
        self.browser.press_enter()
        self.assertEqual(1, self.count(self.box("%p") + ".on"))

    def test_measured_commands_lie_by_the_predicted_ones(self):
        kernel = self.value("DATA.entries[0].commands.findIndex((c) => c.kind === 'kernel')")
        predicted, measured = self.value("""[':not(.measured)', '.measured'].map((which) => {
            const r = document.querySelector('.command' + which + '[data-command="%d"] rect').getBoundingClientRect();
            return [r.top, r.bottom, r.left, r.width];
        })""" % kernel)
        self.assertLess(predicted[1], measured[0] + 8)   # the one under the other
        self.assertLess(measured[0] - predicted[1], 30)  # in one lane
        self.assertGreater(measured[3], 0)
        self.assertIn("measured below", self.text("#time-hint"))
        self.assertIn("measured", self.text("#figures"))

    def test_the_prediction_alone_has_no_measured_row(self):
        self.open("predicted.html")
        self.assertEqual(0, self.count(".command.measured"))
        self.assertGreater(self.count(".command"), 0)
        self.assertNotIn("measured", self.text("#figures"))

    def test_a_click_on_a_command_selects_its_node(self):
        kernel = self.value("DATA.entries[0].commands.findIndex((c) => c.kind === 'kernel' && c.title.includes('%p'))")
        self.browser.click('.command:not(.measured)[data-command="%d"]' % kernel)
        self.assertEqual("%p", self.selected())

    def test_the_wheel_zooms_the_timeline(self):
        self.browser.wheel(self.browser.middle("#time"), -600)
        self.browser.wait_for("state.to - state.from < 0.9 * axisEnd()")
        self.browser.click("#whole")
        self.assertTrue(self.value("state.from === 0 && state.to === axisEnd()"))

    def test_the_ledger_lists_the_transfer_between_the_devices(self):
        self.browser.click("[data-tab=transfers]")
        self.assertIn("1 transfers between devices", self.text("#tab-transfers"))
        self.browser.click("#tab-transfers tr.row td")
        self.assertEqual(1, self.count("#tab-transfers tr.row.on"))

    def test_the_certificate_says_what_was_proved(self):
        self.browser.click("[data-tab=certificate]")
        self.assertFalse(self.value("document.getElementById('tab-certificate').hidden"))
        self.assertIn("no race", self.text("#tab-certificate"))

    def test_a_long_ledger_is_cut_with_a_note(self):
        plan = os.path.join(self.folder, "long.txt")
        with open(plan, "w", encoding="utf-8") as f:
            f.write(MICRO_BATCHES + "".join("    invoke first batch %d\n" % i for i in range(1500)) + "  }\n}\n")
        subprocess.run([PARTITA, "view", plan, "--output", os.path.join(self.folder, "long.html")], check=True)
        self.open("long.html")
        self.assertEqual(2000, self.value("document.querySelectorAll('#tab-transfers tr.row').length"))
        self.assertIn("The first 2000 of 3000 rows", self.text("#tab-transfers"))

    def test_the_fragment_selects(self):
        self.open("page.html", "#search=softmax&select=%25p")
        self.assertEqual("%p", self.selected())


if __name__ == "__main__":
    if not shutil.which("chromium"):
        sys.exit("page_test: found no chromium; expected it on PATH; install the package chromium "
                 "(tools/install_packages does)")
    MACHINE = os.path.abspath(sys.argv.pop())
    GRAPH = os.path.abspath(sys.argv.pop())
    PARTITA = os.path.abspath(sys.argv.pop())
    unittest.main()
