# The Python package, where it is installed: from_python_test.py MODEL.graph MACHINE.json
# SPDX-License-Identifier: Apache-2.0

import os
import sys
import tempfile
import threading
import unittest
import weakref

import numpy as np
import partita

X = np.ones((5, 4), np.float32)
T = np.full((5, 3), 25, np.float32)
LOSS = 175.0  # a row of X sums the weights of a column: 22, 26 and 30


class OtherTensor:
    """A tensor of a library that knows no numpy, as far as DLPack shows it."""

    def __init__(self, array, device=(1, 0)):
        self.array, self.device = array, device

    def __dlpack__(self, *, stream=None):
        return self.array.__dlpack__()

    def __dlpack_device__(self):
        return self.device


class Half:
    """Half of the protocol."""

    def __dlpack__(self, *, stream=None):
        return X.__dlpack__()


class Plans(unittest.TestCase):

    def test_a_plan_has_a_name_entries_and_a_summary(self):
        self.assertEqual(["train"], PLAN.entries)
        self.assertIn("data", PLAN.summary)
        self.assertEqual([], PLAN.warnings)

    def test_a_plan_goes_through_a_file_and_through_memory(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "linear.plan")
            PLAN.write(path)
            with open(path, "rb") as file:
                content = file.read()
            for plan in (partita.load(path), partita.load(content), partita.load(bytearray(content)),
                         partita.load(memoryview(content))):
                with plan.session(devices="virtual") as session:
                    self.assertEqual(LOSS, session.run({"x": X, "t": T})["loss"])

    def test_options_take_lists_and_pairs(self):
        plan = partita.compile(MODEL, machine=MACHINE, strategy="pinned", pin=["*=cpu:1"], ieee=True)
        self.assertIn("pinned", plan.summary)

    def test_errors_have_codes(self):
        for code, bad in {
                "NOT_FOUND": lambda: partita.load("/nowhere.plan"),
                "INVALID_ARGUMENT": lambda: partita.load(b"no plan"),
        }.items():
            with self.assertRaises(partita.Error) as caught:
                bad()
            self.assertEqual(code, caught.exception.code)
        with self.assertRaisesRegex(partita.Error, "strategy"):
            partita.compile(MODEL, strtegy="data")
        with self.assertRaisesRegex(partita.Error, "INVALID_ARGUMENT: machine: found None"):
            partita.compile(MODEL, machine=None)

    def refusal(self, bad):
        with self.assertRaises(partita.Error) as caught:
            bad()
        return caught.exception.message

    def test_options_in_messages_are_spelled_as_here(self):
        unknown = self.refusal(lambda: partita.compile(MODEL, machine=MACHINE, outptu_device="cpu:0"))
        self.assertRegex(unknown, "^outptu_device: found no such option; expected one of: .*, output_device")
        self.assertTrue(unknown.endswith("did you mean output_device?"), unknown)
        self.assertNotIn("-", unknown)
        self.assertRegex(self.refusal(lambda: partita.compile(MODEL, machine=MACHINE, output_device="gpu:7")),
                         "^output_device gpu:7: found no such device")

    def test_what_to_do_is_said_by_names_of_this_package(self):
        with tempfile.TemporaryDirectory() as folder:
            path = folder + "/a.plan"
            PLAN.write(path)
            self.assertTrue(self.refusal(lambda: partita.compile(path)).endswith("load it by partita.load"))
        self.assertRegex(self.refusal(lambda: PLAN.session(split_gpu=1000)), "^split_gpu: found 1000; expected 1..64")
        with PLAN.session(devices="virtual") as session:
            self.assertTrue(self.refusal(session.run).endswith("call Session.set_input or Session.bind_input before"))
            session.run({"x": X, "t": T})
            self.assertTrue(self.refusal(lambda: session.write_trace("/nowhere/a.json"))
                            .endswith("expected one of the last step; run it with trace=True"))

    def test_a_zero_byte_does_not_shorten_a_text(self):
        for bad in (lambda: partita.load("/nowhere.plan\0x"), lambda: partita.compile(MODEL + "\0x"),
                    lambda: partita.compile(MODEL, machine=MACHINE + "\0x"), lambda: PLAN.write("/nowhere/a.plan\0x")):
            with self.assertRaisesRegex(partita.Error, "INVALID_ARGUMENT: .*found a zero byte"):
                bad()


class Sessions(unittest.TestCase):

    def setUp(self):
        self.session = PLAN.session(devices="virtual")
        self.addCleanup(self.session.close)

    def test_types_are_listed_by_name(self):
        self.assertEqual({"x": partita.TensorType("f32", (5, 4)), "t": partita.TensorType("f32", (5, 3))},
                         self.session.inputs)
        self.assertEqual({"loss": partita.TensorType("f32", ())}, self.session.outputs)
        self.assertEqual({"w": partita.TensorType("f32", (4, 3))}, self.session.variables)

    def test_strides_are_copied(self):
        x = np.ones((4, 5), np.float32).T
        self.assertEqual(LOSS, self.session.run({"x": x, "t": T})["loss"])

    def test_other_types_and_shapes_are_refused(self):
        for wrong in (X.astype(np.float64), X.T, X[:4], np.float32(1)):
            with self.assertRaisesRegex(partita.Error, "INVALID_ARGUMENT: input x: found"):
                self.session.run({"x": wrong})
        with self.assertRaisesRegex(partita.Error, "NOT_FOUND: found no input y; expected one of x, t"):
            self.session.set_input("y", X)

    def test_an_input_that_is_not_set_is_named(self):
        with self.assertRaisesRegex(partita.Error, "FAILED_PRECONDITION: .*t"):
            self.session.run({"x": X})

    def test_bound_arrays_are_read_and_written(self):
        x, loss = X.copy(), np.zeros((), np.float32)
        self.session.bind_input("x", x)
        self.session.bind_output("loss", loss)
        self.session.set_input("t", T)
        self.assertEqual({}, self.session.run())
        self.assertEqual(LOSS, loss)
        self.session.restore()
        x[:] = 0
        self.session.wait(self.session.submit())
        self.assertEqual(15 * 25**2, loss)
        with self.assertRaisesRegex(partita.Error, "read-only"):
            self.session.bind_output("loss", np.frombuffer(b"abcd", np.float32).reshape(()))

    def test_arrays_that_are_bound_are_kept(self):
        loss = np.zeros((), np.float32)
        kept = weakref.ref(loss)
        self.session.bind_output("loss", loss)
        del loss
        self.session.run({"x": X, "t": T})
        self.assertEqual(LOSS, kept())
        self.session.close()
        self.assertIsNone(kept())

    def test_tensors_of_other_libraries_are_inputs(self):
        for x in (X, np.ones((4, 5), np.float32).T):
            self.session.restore()
            self.assertEqual(LOSS, self.session.run({"x": OtherTensor(x), "t": OtherTensor(T)})["loss"])
        self.session.write_variable("w", OtherTensor(np.zeros((4, 3), np.float32)))
        self.assertEqual(15 * 25**2, self.session.run()["loss"])

    def test_bound_tensors_of_other_libraries_are_read_without_a_copy(self):
        x = X.copy()
        self.session.bind_input("x", OtherTensor(x))
        self.session.set_input("t", T)
        x[:] = 0
        self.assertEqual(15 * 25**2, self.session.run()["loss"])
        kept = weakref.ref(x)
        del x
        self.assertIsNotNone(kept())
        self.session.close()
        self.assertIsNone(kept())

    def test_tensors_that_cannot_be_shared_are_refused(self):
        for found, bad in {
                "found an array of float64": OtherTensor(X.astype(np.float64)),
                "found an array with strides": OtherTensor(np.ones((4, 5), np.float32).T),
                "found a tensor on a device of DLPack's kind 2": OtherTensor(X, device=(2, 0)),
                "found a tensor that numpy cannot view": OtherTensor(X.astype(object)),
                "found list": X.tolist(),
                "found Half; expected .* __dlpack_device__": Half(),
        }.items():
            with self.assertRaisesRegex(partita.Error, "INVALID_ARGUMENT: .*" + found):
                self.session.bind_input("x", bad)
        with self.assertRaisesRegex(partita.Error, "output loss: found OtherTensor; expected an array of numpy"):
            self.session.bind_output("loss", OtherTensor(np.zeros((), np.float32)))

    def test_outputs_are_taken_by_other_libraries_without_a_copy(self):
        loss = self.session.run({"x": X, "t": T})["loss"]
        taken = np.from_dlpack(OtherTensor(loss))
        loss[()] = 3
        self.assertEqual(3, taken)

    def test_timeouts_that_are_none_are_refused(self):
        for timeout in (-5, float("nan"), float("inf")):
            with self.assertRaisesRegex(partita.Error, "INVALID_ARGUMENT: timeout: found"):
                self.session.run({"x": X, "t": T}, timeout=timeout)

    def test_variables_are_read_written_and_restored(self):
        first = self.session.read_variable("w")
        self.assertEqual([1, 2, 3], first[0].tolist())
        self.session.write_variable("w", np.zeros((4, 3), np.float32))
        self.assertEqual(15 * 25**2, self.session.run({"x": X, "t": T})["loss"])
        self.session.restore()
        np.testing.assert_array_equal(first, self.session.read_variable("w"))

    def test_memory_is_reported_by_device(self):
        memory = self.session.memory()
        self.assertEqual(["cpu:0", "cpu:1"], sorted(memory))
        self.assertGreater(memory["cpu:0"].persistent, 0)

    def test_a_trace_is_written(self):
        self.session.run({"x": X, "t": T}, trace=True)
        with tempfile.TemporaryDirectory() as folder:
            self.session.write_trace(folder + "/trace.json")
            self.assertGreater(os.path.getsize(folder + "/trace.json"), 100)

    def test_a_cancelled_step_ends(self):
        cancel = partita.Cancel()
        cancel.request()
        with self.assertRaisesRegex(partita.Error, "CANCELLED"):
            self.session.run({"x": X, "t": T}, cancel=cancel)

    def test_a_closed_session_is_refused(self):
        self.session.close()
        self.session.close()
        with self.assertRaisesRegex(partita.Error, "INVALID_HANDLE: session: found a closed one; expected an open one"):
            self.session.run()

    def test_inputs_that_are_no_mapping_are_refused(self):
        for inputs in (X, [X, T], "x"):
            with self.assertRaisesRegex(partita.Error, "inputs: found .*; expected a mapping from names to arrays"):
                self.session.run(inputs)

    def test_sessions_run_in_threads(self):
        losses = []

        def train():
            with PLAN.session(devices="virtual") as session:
                losses.append(float(session.run({"x": X, "t": T})["loss"]))

        threads = [threading.Thread(target=train) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual([LOSS] * 4, losses)

    def test_a_call_beside_another_is_refused(self):
        session, refusals = self.session, []

        class Inputs(dict):

            def items(self):  # while `run` is at work
                thread = threading.Thread(target=call_beside)
                thread.start()
                thread.join()
                return super().items()

        def call_beside():
            for call in (lambda: session.inputs, lambda: session.output("loss"), session.close):
                try:
                    call()
                except partita.Error as error:
                    refusals.append(error.code)

        session.run(Inputs(x=X, t=T))
        self.assertEqual(["FAILED_PRECONDITION"] * 3, refusals)


if __name__ == "__main__":
    MODEL, MACHINE = sys.argv[1:3]
    del sys.argv[1:]
    PLAN = partita.compile(MODEL, machine=MACHINE, strategy="data")
    unittest.main()
