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
import long_plan

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
    """A plan over two devices with a measured step, drawn; its copy without the step; and another plan beside it."""
    graph, plan, trace = (os.path.join(folder, name) for name in ("mlp.graph", "mlp.plan", "mlp.json"))
    with open(GRAPH, encoding="utf-8") as f:
        text = re.sub(r"%g\b", "%0", re.sub(r"%l\b", lambda _: HOSTILE, f.read()))
    with open(graph, "w", encoding="utf-8") as f:
        f.write(text)
    pins = ["--pin", "hidden=cpu:0", "--pin", "classifier=cpu:1"]
    partita("compile", graph, "--machine", MACHINE, *pins, "--output", plan)
    partita("run", plan, "--virtual", "--trace", trace)
    partita("view", plan, "--trace", trace, "--model", graph, *pins, "--output", os.path.join(folder, "page.html"))
    partita("view", plan, "--output", os.path.join(folder, "predicted.html"))
    other = os.path.join(folder, "other.plan")
    partita("compile", graph, "--machine", MACHINE, "--strategy", "single", "--output", other)
    partita("diff", plan, other, "--page", os.path.join(folder, "diff.html"))
    elsewhere = os.path.join(folder, "elsewhere.plan")
    partita("compile", graph, "--machine", MACHINE, "--device", "cpu:1", "--output", elsewhere)
    partita("diff", other, elsewhere, "--page", os.path.join(folder, "elsewhere.html"))


def make_long_page(folder, name, nodes, devices, scoped):
    """The page of a plan of so many nodes."""
    plan, machine = os.path.join(folder, name + ".txt"), os.path.join(folder, name + ".json")
    with open(plan, "w", encoding="utf-8") as f:
        f.write(long_plan.plan_text(nodes, devices, scoped))
    with open(machine, "w", encoding="utf-8") as f:
        f.write(long_plan.machine_text(devices))
    partita("view", plan, "--machine", machine, "--output", os.path.join(folder, name + ".html"))


def partita(*words):
    subprocess.run([PARTITA, *words], check=True, stdout=subprocess.DEVNULL)


class PageTest(unittest.TestCase):
    """Pages in one browser; what they do wrong in the console fails the test."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp()
        cls.make_pages()
        cls.browser = browser.Browser(cls.folder, 1400, 900)

    @classmethod
    def tearDownClass(cls):
        cls.browser.close()
        shutil.rmtree(cls.folder, ignore_errors=True)

    def tearDown(self):
        self.assertEqual("", self.value("document.getElementById('errors').textContent"))
        self.assertEqual([], self.browser.errors())

    def open(self, name, fragment=""):
        self.browser.open(os.path.join(self.folder, name), fragment)

    def value(self, expression):
        return self.browser.value(expression)

    def count(self, selector):
        return self.value("document.querySelectorAll(%s).length" % json.dumps(selector))

    def text(self, selector):
        return self.value("document.querySelector(%s)?.textContent" % json.dumps(selector))

    def selected(self, side="page.shown"):
        return self.value("%s.box < 0 ? null : %s.entry.name(%s.box)" % (side, side, side))

    def place(self, pane, expression):
        """The position in the window of what a pane says is at a position of its canvas."""
        return self.value("(() => { const p = %s.%s, r = %s.canvas.node.getBoundingClientRect(); "
                          "return [r.left + p.x, r.top + p.y]; })()" % (pane, expression, pane))

    def box(self, name, shown="page.shown"):
        index = self.value("%s.entry.find(%s)" % (shown, json.dumps(name)))
        self.assertGreaterEqual(index, 0, name)
        return index

    def box_place(self, name):
        return self.place("page.graph", "placeOf('boxes', %d)" % self.box(name))

    def group(self, name):
        index = self.value("page.shown.entry.groups.findIndex((g) => g.name === %s)" % json.dumps(name))
        self.assertGreaterEqual(index, 0, name)
        return index

    def group_place(self, name):
        return self.place("page.graph", "placeOf('groups', %d)" % self.group(name))

    def kernel_of(self, name):
        return self.value("[...page.shown.entry.commandsOf(%d)].find((c) => page.shown.entry.kind(c) === 'kernel')" % self.box(name))

    def tab(self, name):
        self.browser.click("[data-tab=%s]" % name)
        return self.text("#tab-body")


class ViewPageTest(PageTest):

    @classmethod
    def make_pages(cls):
        make_page(cls.folder)

    def setUp(self):
        self.open("page.html")

    def test_the_whole_plan_is_on_the_page(self):
        self.assertIsNone(self.selected())
        self.assertEqual(self.value("page.shown.entry.numBoxes"), self.value("page.graph.places.boxes.size"))
        self.assertGreaterEqual(self.value("page.shown.entry.edges.cut.filter((c) => c).length"), 1)
        self.assertEqual(["cpu:0 memory", "cpu:1 memory"], self.value(
            "page.time.lanes.filter((l) => l.kind === 'memory').map((l) => l.label + ' memory')"))
        self.assertEqual("mlp", self.text("#plan-name"))
        self.assertIn("predicted step", self.text("#figures"))

    def test_what_is_drawn_has_the_colours_of_the_devices(self):
        for name in ("%a", "%p") if self.value("page.shown.entry.find('%a')") >= 0 else ("%0", "%p"):
            color = self.value("""(() => {
                const b = page.shown.entry.find(%s), p = page.graph.placeOf('boxes', b), at = page.graph.places.boxes.get(b);
                const scale = devicePixelRatio, y = p.y - at.h / 2 * page.graph.view.k + 4 * page.graph.view.k;
                const drawn = page.graph.canvas.pen.getImageData(Math.round(p.x * scale), Math.round(y * scale), 1, 1).data;
                return ['rgb(' + [...drawn].slice(0, 3).join(',') + ')', deviceColors(page.shown.plan, page.shown.entry.devices(b))[0]];
            })()""" % json.dumps(name))
            self.assertEqual(color[1], color[0])

    def test_hostile_names_stay_text(self):
        self.assertEqual(0, self.count("img"))
        self.value("page.shown.select(%d)" % self.box(HOSTILE))
        self.browser.settle()
        self.assertIn(HOSTILE, self.text("#tab-body"))
        self.assertEqual(0, self.count("img"))

    def test_a_click_selects_the_node_with_reason_and_costs(self):
        self.browser.click_at(self.box_place("%p"))
        self.assertEqual("%p", self.selected())
        panel = self.text("#tab-body")
        for part in ("softmax", "cpu:1", "pinned", " predicted", " measured"):
            self.assertIn(part, panel)
        self.assertEqual("#select=%25p", self.value("location.hash"))
        self.assertIn("%p", self.text("#say"))

    def test_a_click_beside_every_box_selects_nothing(self):
        self.browser.click_at(self.box_place("%p"))
        self.browser.click_at(self.place("page.graph", "placeOf('boxes', 0) && ({x: 3, y: 3})"))
        self.assertIsNone(self.selected())

    def test_the_search_finds_and_selects_a_node(self):
        self.browser.click("#search")
        self.browser.keys("softmax")
        self.assertEqual(["%p"], self.value("[...document.querySelectorAll('[data-hit]')].map((n) => n.dataset.hit)"))
        self.assertEqual([self.box("%p")], self.value("[...page.shown.hits]"))
        self.browser.click("[data-hit]")
        self.assertEqual("%p", self.selected())

    def test_enter_selects_the_best_hit(self):
        self.browser.keys("/")
        self.browser.keys("classifier", "ENTER")
        self.assertIn(self.selected(), (HOSTILE, "%p"))

    def test_a_search_for_nothing_says_so(self):
        self.browser.click("#search")
        self.browser.keys("no such thing")
        self.assertIn("no node of that name", self.text("#hits"))
        self.assertEqual(0, self.value("page.shown.hits.size"))

    def test_values_without_a_name_are_called_by_number(self):
        self.box("%0")

    def test_the_wheel_zooms_where_the_mouse_is(self):
        before, at = self.value("page.graph.view.k"), self.box_place("%p")
        self.browser.wheel(at, -400)
        self.browser.wait_for("page.graph.view.k > %r" % before)
        after = self.box_place("%p")
        self.assertAlmostEqual(at[0], after[0], delta=2)
        self.assertAlmostEqual(at[1], after[1], delta=2)

    def test_a_drag_pans_and_selects_nothing(self):
        before = self.box_place("%p")
        self.browser.drag(before, (before[0] + 70, before[1] - 40))
        after = self.box_place("%p")
        self.assertAlmostEqual(before[0] + 70, after[0], delta=1.5)
        self.assertAlmostEqual(before[1] - 40, after[1], delta=1.5)
        self.assertIsNone(self.selected())

    def test_a_scope_folds_and_opens(self):
        boxes = self.value("page.graph.places.boxes.size")
        inner = self.value("page.shown.entry.groups[%d].boxes" % self.group("hidden"))
        self.assertGreaterEqual(inner, 1)
        self.browser.click_at(self.group_place("hidden"))
        self.assertEqual(boxes - inner, self.value("page.graph.places.boxes.size"))
        self.browser.click_at(self.group_place("hidden"))
        self.assertEqual(boxes, self.value("page.graph.places.boxes.size"))

    def test_fold_all_and_unfold_all(self):
        boxes = self.value("page.graph.places.boxes.size")
        self.value("page.graph.foldAll()")
        self.assertLess(self.value("page.graph.places.boxes.size"), boxes)
        self.value("page.graph.unfoldAll()")
        self.assertEqual(boxes, self.value("page.graph.places.boxes.size"))

    def test_a_search_opens_the_fold_that_hides_the_node(self):
        self.value("page.graph.foldAll()")
        self.assertFalse(self.value("page.graph.places.boxes.has(%d)" % self.box("%p")))
        self.browser.click("#search")
        self.browser.keys("softmax", "ENTER")
        self.assertTrue(self.value("page.graph.places.boxes.has(%d)" % self.box("%p")))

    def test_the_arrow_keys_follow_edges(self):
        self.browser.click_at(self.box_place("%p"))
        self.browser.keys("ARROW_UP")
        self.assertEqual(HOSTILE, self.selected())
        self.browser.keys("ARROW_DOWN")
        self.assertEqual("%p", self.selected())
        self.browser.keys("ESCAPE")
        self.assertIsNone(self.selected())

    def test_the_arrow_keys_choose_among_the_hits(self):
        self.browser.keys("/")
        self.browser.keys("%")
        hits = self.value("[...document.querySelectorAll('[data-hit]')].map((n) => n.dataset.hit)")
        self.assertGreaterEqual(len(hits), 3)
        self.browser.keys("ARROW_DOWN", "ARROW_DOWN", "ARROW_UP")
        self.assertEqual(hits[1], self.text("#hits [aria-selected=true]").split("  ")[0])
        self.assertEqual("hit-1", self.value("document.activeElement.getAttribute('aria-activedescendant')"))
        self.browser.keys("ENTER")
        self.assertEqual(hits[1], self.selected())

    def test_a_key_leaves_the_focus_where_it_is(self):
        self.value("document.querySelector('#machine-pane .device[data-device=\"1\"]').focus()")
        self.browser.keys("ENTER")
        self.assertEqual({"device": 1}, self.value("page.shown.filter"))
        self.assertEqual("1", self.value("document.activeElement.getAttribute('data-device')"))
        self.browser.keys("SPACE")
        self.assertIsNone(self.value("page.shown.filter"))
        self.tab("transfers")
        self.value("document.querySelectorAll('#tab-body tr.row')[1].focus()")
        self.browser.keys("ENTER")
        self.assertGreaterEqual(self.value("page.shown.command"), 0)
        self.assertTrue(self.value("document.activeElement === document.querySelectorAll('#tab-body tr.row')[1]"))

    def test_escape_selects_nothing_from_anywhere(self):
        self.value("page.shown.select(%d)" % self.box("%p"))
        self.tab("transfers")
        self.browser.keys("ESCAPE")
        self.assertIsNone(self.selected())

    def test_keys_alone_select_a_command(self):
        self.value("page.time.canvas.node.focus()")
        self.browser.keys(("SHIFT", "ARROW_RIGHT"))
        first = self.value("page.shown.command")
        self.assertGreaterEqual(first, 0)
        self.browser.keys(("SHIFT", "ARROW_RIGHT"))
        self.assertGreater(self.value("page.shown.command"), first)

    def test_boxes_name_their_device(self):
        self.assertEqual("%p · cpu:1", self.value("boxNote(page.shown.plan, page.shown.entry, %d)" % self.box("%p")))

    def test_every_control_is_reached_by_the_tab_key(self):
        reached = set()
        for _ in range(60):
            self.browser.keys("TAB")
            reached.add(self.value("document.activeElement.id || document.activeElement.tagName + "
                                   "(document.activeElement.getAttribute('aria-label') || '').split(':')[0]"))
        for control in ("search", "trace", "CANVASGraph", "CANVASTimeline", "tab-findings"):
            self.assertIn(control, reached)

    def test_measured_commands_are_by_the_predicted_ones(self):
        kernel = self.kernel_of("%p")
        predicted, measured = (self.place("page.time", "placeOf(%d, '%s')" % (kernel, kind)) for kind in ("stream", "measured"))
        self.assertGreater(measured[1], predicted[1])       # the one under the other
        self.assertLess(measured[1] - predicted[1], 30)     # in one lane
        self.assertIn("measured on emulated devices below", self.text("#time-pane .hint"))
        self.assertIn("measured", self.text("#figures"))

    def test_times_of_emulated_devices_are_called_so(self):
        for tab in ("findings", "measured"):
            self.assertIn("Software emulated cpu:0, cpu:1 in the measured step", self.tab(tab))
        self.assertFalse([f for f in self.value("page.shown.entry.findings.map((f) => f.text)") if "its prediction" in f])

    def test_the_prediction_alone_has_no_measured_row(self):
        self.open("predicted.html")
        self.assertEqual(0, self.value("page.time.lanes.filter((l) => l.kind === 'measured').length"))
        self.assertGreater(self.value("page.time.drawn"), 0)
        self.assertNotIn("measured", self.text("#figures"))
        self.assertIn("No measured step", self.tab("measured"))

    def test_a_click_on_a_command_selects_its_node(self):
        kernel = self.kernel_of("%p")
        self.browser.click_at(self.place("page.time", "placeOf(%d)" % kernel))
        self.assertEqual("%p", self.selected())
        self.assertEqual(kernel, self.value("page.shown.command"))

    def test_the_wheel_zooms_the_timeline(self):
        self.browser.wheel(self.place("page.time", "placeOf(%d)" % self.kernel_of("%p")), -600)
        self.browser.wait_for("page.shown.to - page.shown.from < 0.9 * page.shown.axisEnd()")
        self.value("page.time.canvas.node.focus()")
        self.browser.keys("0")
        self.assertTrue(self.value("page.shown.from === 0 && page.shown.to === page.shown.axisEnd()"))

    def test_the_ledger_lists_the_transfer_between_the_devices(self):
        self.assertIn("1 transfer between devices", self.tab("transfers"))
        self.browser.click("#tab-body tr.row td")
        self.assertEqual(1, self.count("#tab-body tr.row.on"))

    def test_the_certificate_says_what_was_proved(self):
        self.assertIn("no race", self.tab("certificate"))

    def test_findings_come_first_and_lead_to_what_they_speak_of(self):
        self.assertEqual("findings", self.value("document.getElementById('tab-body').dataset.tab"))
        findings = self.value("page.shown.entry.findings.map((f) => [f.seconds, f.text])")
        self.assertGreaterEqual(len(findings), 2)
        self.assertEqual(sorted(findings, key=lambda f: -f[0]), findings)
        self.assertTrue(any("waits" in text or "wait " in text for _, text in findings), findings)
        waits = next(i for i, (_, text) in enumerate(findings) if "wait" in text)
        self.browser.click("[data-finding='%d'] button" % waits)
        self.assertEqual(self.value("page.shown.entry.findings[%d].command" % waits), self.value("page.shown.command"))

    def test_the_finding_about_the_lower_bound_leads_to_its_device(self):
        self.value("""page.shown.entry.findings.unshift({ text: 'the step takes 4.0 times the lower bound: load of cpu:1', seconds: 1e-6,
            device: 1, box: -1, link: -1, command: -1, moment: -1 })""")
        self.value("page.tabs.draw()")
        self.browser.click("[data-finding='0'] button")
        self.assertEqual({"device": 1}, self.value("page.shown.filter"))

    def test_the_critical_path_is_on_the_graph_and_the_timeline(self):
        path = self.value("[...page.shown.entry.pathBoxes.keys()].map((b) => page.shown.entry.name(b))")
        self.assertIn("%p", path)
        total = self.value("[...page.shown.entry.pathSeconds.values()].reduce((a, b) => a + b, 0)")
        self.assertAlmostEqual(1, total / self.value("page.shown.entry.end"), delta=1e-6)
        before = self.value("page.graph.canvas.node.toDataURL()")
        self.browser.keys("p")
        self.assertFalse(self.value("page.shown.pathShown"))
        self.assertNotEqual(before, self.value("page.graph.canvas.node.toDataURL()"))

    def test_the_machine_shows_its_links_and_filters(self):
        self.assertFalse(self.value("document.getElementById('machine-pane').hidden"))
        self.assertEqual(2, self.count("#machine-pane .device"))
        self.assertGreaterEqual(self.count("#machine-pane .wire"), 1)
        self.browser.click("#machine-pane .device[data-device='1']")
        self.assertEqual({"device": 1}, self.value("page.shown.filter"))
        self.assertEqual([1], self.value("[...new Set(page.time.lanes.map((l) => l.device))]"))
        self.assertIn("only cpu:1", self.text("#filter"))
        self.browser.click("#filter")
        self.assertIsNone(self.value("page.shown.filter"))
        self.value("page.shown.setFilter({link: 0})")
        self.browser.settle()
        self.tab("transfers")
        self.assertEqual(1, self.count("#tab-body tr.row"))

    def test_keys_alone_choose_a_link(self):
        self.assertEqual(0, self.value("document.querySelector('#machine-pane .wire').tabIndex"))
        self.value("document.querySelector('#machine-pane .wire').focus()")
        self.browser.keys("ENTER")
        self.assertEqual({"link": 0}, self.value("page.shown.filter"))
        self.assertTrue(self.value("document.activeElement.matches('#machine-pane .wire.on')"))

    def test_keys_alone_reach_a_link_that_carries_nothing(self):
        self.value("page.shown.entry.linkLoads.forEach((load) => load.forEach((way) => { way.seconds = way.bytes = 0; }))")
        self.value("page.machine.draw()")
        self.assertIn("No link carries anything", self.text("#machine-pane"))
        self.value("document.querySelector('#machine-pane .wire').focus()")
        self.browser.keys("ENTER")
        self.assertEqual({"link": 0}, self.value("page.shown.filter"))

    def test_keys_alone_reach_every_block(self):
        self.value("""(() => {
            const { memory } = page.shown.entry, many = Array.from({ length: 50 }, (_, i) => i), fill = (v) => many.map(() => v);
            memory[0].blocks = { kind: fill(0), name: fill(0), box: fill(-1), begin: many.map((i) => 64 * i),
                                 end: many.map((i) => 64 * i + 64), from: fill(-1), to: fill(-1) };
            memory[0].persistent = 50 * 64;
            page.shown.showMoment(0, 0);
        })()""")
        self.assertEqual(40, self.count("#tab-body tr.row"))
        self.value("[...document.querySelectorAll('#tab-body button')].find((b) => b.textContent === 'All 50 blocks').focus()")
        self.browser.keys("ENTER")
        self.browser.settle()
        self.assertEqual(50, self.count("#tab-body tr.row"))
        self.assertEqual("All 50 blocks", self.value("document.activeElement.textContent"))

    def test_a_moment_of_memory_shows_what_fills_it(self):
        place = self.value("""(() => {
            const lane = page.time.lanes.find((l) => l.kind === 'memory' && l.device === 0);
            const r = page.time.canvas.node.getBoundingClientRect();
            return [r.left + page.time.scale().x(page.shown.entry.end * 0.4), r.top + lane.y + lane.h / 2 - page.time.scroll.scrollTop];
        })()""")
        self.browser.click_at(place)
        self.assertEqual("memory", self.value("document.getElementById('tab-body').dataset.tab"))
        self.assertGreaterEqual(self.count(".treemap .tile"), 1)
        self.assertIn("constant", self.text(".legend"))

    def test_the_blocks_of_every_moment_add_up_to_the_curve(self):
        self.assertEqual([], self.value("""(() => {
            const entry = page.shown.entry, wrong = [];
            entry.memory.forEach((memory, device) => {
                for (let i = 0; i < memory.points.length; i += 2) {
                    const time = memory.points[i] * entry.tick;
                    const sum = blocksAt(page.shown, device, time).reduce((all, b) => all + b.bytes, 0);
                    if (i + 2 < memory.points.length && sum !== memory.points[i + 1]) wrong.push([device, time, sum, memory.points[i + 1]]);
                }
            });
            return wrong;
        })()"""))

    def test_a_block_is_there_from_its_first_moment(self):
        # Not every number n is n * 1e-13 / 1e-13.
        self.assertEqual([], self.value("""(() => {
            const { entry } = page.shown, memory = entry.memory[0], missed = [];
            memory.persistent = 0;
            entry.tick = 1e-13;
            for (let from = 49999; from < 1e8; from += 49999) {
                memory.blocks = { kind: [4], name: [0], box: [-1], begin: [0], end: [64], from: [from], to: [from + 10] };
                if (blocksAt(page.shown, 0, from * entry.tick).length !== 1) missed.push(from);
            }
            return missed;
        })()"""))

    def test_blocks_that_share_persistent_bytes_leave_the_rest_to_other_entries(self):
        self.assertEqual([16, 64], self.value("""(() => {
            const memory = page.shown.entry.memory[0];
            memory.persistent = 80;
            memory.blocks = { kind: [0, 0], name: [0, 0], box: [-1, -1], begin: [0, 0], end: [64, 64], from: [-1, -1], to: [-1, -1] };
            return blocksAt(page.shown, 0, 0).map((b) => b.bytes).sort((a, b) => a - b);
        })()"""))

    def test_residuals_are_sorted_by_their_distance(self):
        self.assertIn("By op", self.tab("measured"))
        nodes = self.value("page.shown.trace.nodes")
        distances = [abs(measured - predicted) for _, predicted, measured in nodes]
        self.assertEqual(sorted(distances, reverse=True), distances)
        self.assertGreaterEqual(len(nodes), 2)
        self.browser.click("#tab-body h2.above + table tr.row td")
        self.assertEqual(self.value("page.shown.entry.name(page.shown.trace.nodes[0][0])"), self.selected())

    def test_explained_nodes_show_what_each_placement_would_cost(self):
        self.value("page.shown.select(page.shown.entry.explained.keys().next().value)")
        self.browser.settle()
        panel = self.text("#tab-body")
        for part in ("Why here, and what elsewhere", "where it is", "cpu:0", "cpu:1", "cpu:0, cpu:1 (replicated)", "cpu:0, cpu:1 (split 0)"):
            self.assertIn(part, panel)
        # Texts of the program and what the page formats have one spelling.
        self.assertRegex(panel, r"\d us")
        self.assertNotIn("µ", panel)
        self.assertTrue(self.value("[...page.shown.entry.explained.values()].some((e) => e.options.some((o) => o.step > 0))"))

    def test_dark_mode_follows_the_system(self):
        light = self.value("getComputedStyle(document.body).backgroundColor")
        drawn = self.value("page.graph.canvas.node.toDataURL()")
        self.browser.prefer("dark")
        try:
            self.browser.settle()
            self.assertNotEqual(light, self.value("getComputedStyle(document.body).backgroundColor"))
            self.assertNotEqual(drawn, self.value("page.graph.canvas.node.toDataURL()"))
            self.assertTrue(self.value("THEME.dark"))
        finally:
            self.browser.prefer("light")

    def test_texts_have_contrast_in_both_modes(self):
        for scheme in ("light", "dark"):
            self.browser.prefer(scheme)
            self.browser.settle()
            self.assertEqual([], self.value("""(() => {
                const style = getComputedStyle(document.documentElement), weak = [];
                const light = (hex) => { const c = [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16) / 255).map((v) => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
                                         return 0.2126 * c[0] + 0.7152 * c[1] + 0.0722 * c[2]; };
                const paper = light(style.getPropertyValue('--paper').trim());
                for (const [name, least] of [['ink', 7], ['soft', 4.5], ['link', 4.5], ['path', 3], ['limit', 4.5], ['faint', 3.5]]) {
                    const own = light(style.getPropertyValue('--' + name).trim());
                    const ratio = (Math.max(own, paper) + 0.05) / (Math.min(own, paper) + 0.05);
                    if (ratio < least) weak.push([name, ratio]);
                }
                return weak;
            })()"""), scheme)
        self.browser.prefer("light")

    def test_the_fragment_selects(self):
        self.open("page.html", "#search=softmax&select=%25p&tab=transfers")
        self.assertEqual("%p", self.selected())
        self.assertEqual("transfers", self.value("document.getElementById('tab-body').dataset.tab"))


class DiffPageTest(PageTest):

    @classmethod
    def make_pages(cls):
        make_page(cls.folder)

    def setUp(self):
        self.open("diff.html")

    def test_both_plans_and_their_figures_are_side_by_side(self):
        self.assertEqual(2, self.value("page.graphs.filter((g) => g.drawn > 0).length"))
        self.assertIn("Step", self.text("#tab-body"))
        self.assertIn("Memory of cpu:1", self.text("#tab-body"))
        self.assertEqual(self.value("page.sides[0].to"), self.value("page.sides[1].to"))

    def test_sizes_are_those_that_the_program_prints(self):
        self.assertEqual(["1.2 KiB", "1.8 KiB", "1.0 KiB", "914.0 KiB", "1023 B"],
                         self.value("[1280, 1792, 1024, 935936, 1023].map((bytes) => bytesText(bytes))"))
        self.assertEqual(["935936 B", "935940 B"], self.value("bytesTexts(935936, 935940)"))

    def test_a_moved_node_is_selected_in_both(self):
        self.assertIn("cpu:", self.tab("moved"))
        self.browser.click("#tab-body tr.row td")
        first, second = self.selected("page.sides[0]"), self.selected("page.sides[1]")
        self.assertIsNotNone(first)
        self.assertIsNotNone(second)
        self.assertNotEqual(self.value("page.sides[0].entry.devices(page.sides[0].box)"), self.value("page.sides[1].entry.devices(page.sides[1].box)"))

    def test_a_filter_is_about_the_same_device_of_both(self):
        self.browser.click("#legend .chip")
        self.assertEqual([{"device": 0}, {"device": 0}], self.value("page.sides.map((s) => s.filter)"))
        self.browser.keys("ESCAPE")
        self.assertEqual([None, None], self.value("page.sides.map((s) => s.filter)"))

    def test_a_device_has_one_colour_in_both(self):
        self.assertEqual(self.value("deviceColors(page.sides[0].plan, [0])"), self.value("deviceColors(page.sides[1].plan, [0])"))
        self.open("elsewhere.html")
        self.assertEqual(["cpu:0", "cpu:1"], self.value("page.sides.map((s) => s.plan.deviceName(0))"))
        self.assertNotEqual(self.value("deviceColors(page.sides[0].plan, [0])"), self.value("deviceColors(page.sides[1].plan, [0])"))

    def test_the_legend_follows_dark_mode(self):
        light = self.value("document.querySelector('#legend i').style.background")
        self.browser.prefer("dark")
        try:
            self.browser.settle()
            self.assertNotEqual(light, self.value("document.querySelector('#legend i').style.background"))
        finally:
            self.browser.prefer("light")

    def test_both_timelines_show_the_same_range(self):
        self.value("page.times[0].zoom(0.5)")
        self.browser.settle()
        self.assertEqual(self.value("[page.sides[0].from, page.sides[0].to]"), self.value("[page.sides[1].from, page.sides[1].to]"))


class SmallPageTest(PageTest):
    """Plans with little to show: no entry, or no node and no prediction."""

    @classmethod
    def make_pages(cls):
        graph = "graph @f(%x: i8[1]) -> i8[1] {\n  return %x as y\n}\n"
        device = "plan @f {\n  device cpu:0 cpu memory 2\n    arena persistent 0 step 1\n"
        entry = ("  entry @f of @f {\n    input x i8[1]\n    output y i8[1]\n    arena cpu:0\n      !x 0 1\n"
                 "    stream cpu:0/s\n      0 feed -> !x input 0\n      1 fetch !x output 0\n  }\n")
        plans = {}
        for name, text in (("empty", graph + device.replace("step 1", "step 0") + "}\n"), ("tiny", graph + device + entry + "}\n")):
            plans[name] = os.path.join(cls.folder, name + ".txt")
            with open(plans[name], "w", encoding="utf-8") as f:
                f.write(text)
            partita("view", plans[name], "--output", os.path.join(cls.folder, name + ".html"))
        partita("diff", plans["empty"], plans["tiny"], "--machine", MACHINE, "--page", os.path.join(cls.folder, "diff.html"))

    def test_a_plan_without_entries_says_so(self):
        for name in ("empty.html", "diff.html"):
            self.open(name)
            self.assertIn("no entry in this plan", self.text("#figures"))

    def test_every_tab_opens_without_prediction_transfers_and_trace(self):
        self.open("tiny.html")
        self.assertIn("0 transfers", self.text("#figures"))
        for name in self.value("page.tabs.tabs.map(([name]) => name)"):
            self.assertNotEqual("", self.tab(name), name)


class LongPageTest(PageTest):
    """Sizes: what a page draws does not grow with the plan."""

    @classmethod
    def make_pages(cls):
        make_long_page(cls.folder, "flat", 10_000, 1, False)
        make_long_page(cls.folder, "scoped", 100_000, 8, True)
        with open(os.path.join(cls.folder, "ledger.txt"), "w", encoding="utf-8") as f:
            f.write(MICRO_BATCHES + "".join("    invoke first batch %d\n" % i for i in range(1500)) + "  }\n}\n")
        partita("view", os.path.join(cls.folder, "ledger.txt"), "--output", os.path.join(cls.folder, "ledger.html"))

    def size(self, name):
        return os.path.getsize(os.path.join(self.folder, name))

    def assert_drawn(self, most):
        """Graph and timeline draw something, but fewer shapes than `most`."""
        self.browser.settle()
        for count in self.value("[page.graph.drawn, page.time.drawn]"):
            self.assertGreater(count, 0)
            self.assertLess(count, most)

    def test_ten_thousand_nodes_without_scopes(self):
        self.assertLess(self.size("flat.html"), 4 << 20)
        self.open("flat.html")
        self.assertLessEqual(self.value("Math.max(...page.shown.entry.groups.map((g) => g.items.length / 2))"), 64)
        self.assert_drawn(3000)
        self.value("page.graph.unfoldAll()")
        self.value("page.graph.fit(true)")
        self.assert_drawn(12_000)

    def test_a_hundred_thousand_nodes_over_eight_devices(self):
        self.assertLess(self.size("scoped.html"), 40 << 20)
        self.open("scoped.html")
        self.assertEqual(100_000, self.value("page.shown.entry.boxes.kind.filter((k) => k === 0).length"))
        self.assert_drawn(3000)
        # Selecting and zooming as far as possible keep it so.
        self.value("page.shown.select(50000)")
        self.assert_drawn(3000)
        self.value("page.graph.zoom(0.001)")
        self.assert_drawn(6000)

    def test_at_no_scale_is_much_drawn(self):
        for name in ("flat.html", "scoped.html"):
            self.open(name)
            self.value("page.graph.unfoldAll()")
            drawn = self.value("""[0.01, 0.03, 0.1, 0.2, 0.5, 1.5].map((k) => {
                const { graph } = page, { canvas } = graph, middle = graph.places.boxes.get(page.shown.entry.numBoxes >> 1);
                graph.view = { k, x: canvas.width / 2 - middle.x * k, y: canvas.height / 2 - middle.y * k };
                canvas.drawNow();
                return graph.drawn;
            })""")
            self.assertGreater(min(drawn), 0, name)
            self.assertLess(max(drawn), 6000, name)

    def test_a_link_between_folded_devices_unfolds_them(self):
        self.open("scoped.html")
        self.value("page.shown.setFilter({link: 1})")
        self.browser.settle()
        self.assertEqual([0, 2], self.value("[...new Set(page.time.lanes.map((l) => l.device))]"))

    def test_equal_devices_are_one_until_they_are_unfolded(self):
        self.open("scoped.html")
        self.assertEqual([[0, 1, 2, 3, 4, 5, 6, 7]], self.value("page.shown.plan.equalDevices"))
        self.assertIn("cpu:0 × 8", self.text("#legend"))
        self.assertEqual(1, self.count("#legend .chip"))
        self.assertEqual(1, self.count("#machine-pane .device"))
        lanes = self.value("page.time.lanes.length")
        self.browser.click("#legend .chip")
        self.assertEqual(8, self.count("#legend .chip"))
        self.assertEqual(8 * lanes, self.value("page.time.lanes.length"))
        self.assertEqual(8, self.count("#machine-pane .device"))

    def test_a_long_ledger_is_cut_with_a_note(self):
        self.open("ledger.html", "#tab=transfers")
        self.assertEqual(2000, self.count("#tab-body tr.row"))
        self.assertIn("The first 2000 of 3000 rows", self.text("#tab-body"))


if __name__ == "__main__":
    if browser.missing():
        sys.exit("page_test: found no %s; expected it; install it (tools/install_packages does)" % " and no ".join(browser.missing()))
    MACHINE = os.path.abspath(sys.argv.pop())
    GRAPH = os.path.abspath(sys.argv.pop())
    PARTITA = os.path.abspath(sys.argv.pop())
    unittest.main()
