# The packages by dpkg: their contents, and in a Debian of their own.
# SPDX-License-Identifier: Apache-2.0

import glob
import os
import shutil
import subprocess
import tempfile
import unittest

import consumer

CODENAME = "bookworm"  # Debian 12
TOOLS = ["g++", "cmake", "make"]  # of the consumer


def field(package, name):
    return consumer.run("dpkg-deb", "--field", package, name).strip()


class Contents(unittest.TestCase):

    def test_each_states_its_version_and_what_it_depends_on(self):
        for package in (MAIN, RUNTIME):
            self.assertEqual(VERSION, field(package, "Version"))
            self.assertRegex(field(package, "Depends"), r"libdnnl2 \(")
        self.assertIn("%s (= %s)" % (RUNTIME_NAME, VERSION), field(MAIN, "Depends"))

    def test_the_runtime_depends_on_neither_llvm_nor_protobuf(self):
        depends = field(RUNTIME, "Depends")
        for stranger in ("libllvm", "libprotobuf", "libonnx"):
            self.assertNotIn(stranger, depends)
        self.assertIn("libllvm19", field(MAIN, "Depends"))

    def test_no_file_is_in_both(self):
        def files(package):
            lines = consumer.run("dpkg-deb", "--contents", package).splitlines()
            return {line.split()[5] for line in lines if not line.startswith("d")}

        self.assertEqual(set(), files(MAIN) & files(RUNTIME))
        self.assertIn("./usr/bin/partita", files(MAIN))
        self.assertIn("./usr/lib/libpartita_runtime.so." + SOVERSION, files(RUNTIME))

    def test_each_lists_the_sums_of_its_files(self):
        for package in (MAIN, RUNTIME):
            with tempfile.TemporaryDirectory() as folder:
                consumer.run("dpkg-deb", "--raw-extract", package, folder)
                files = {path for path in glob.glob(folder + "/usr/**", recursive=True)
                         if os.path.isfile(path) and not os.path.islink(path)}
                with open(folder + "/DEBIAN/md5sums", encoding="utf-8") as sums:
                    listed = {os.path.join(folder, line[34:].rstrip("\n")) for line in sums}
                self.assertEqual(files, listed)
                consumer.run("md5sum", "--check", "--strict", "--quiet", "DEBIAN/md5sums", cwd=folder)

    def test_files_belong_to_root_and_nobody_else_writes_them(self):
        for package in (MAIN, RUNTIME):
            for line in consumer.run("dpkg-deb", "--contents", package).splitlines():
                mode, owner = line.split()[:2]
                self.assertEqual("root/root", owner, line)
                if mode[0] != "l":
                    self.assertEqual("--", mode[5] + mode[8], line)  # of the group and of others


class FreshDebian(unittest.TestCase):
    """What ./test --full runs: it fetches packages."""

    def setUp(self):
        if not os.environ.get("PARTITA_FULL"):
            self.skipTest("it fetches a Debian; ./test --full runs it")
        if os.geteuid() != 0:
            self.skipTest("debootstrap needs root; found another user")
        if not shutil.which("debootstrap"):
            self.skipTest("found no debootstrap; tools/install_packages installs it")
        self.folder = tempfile.mkdtemp()
        self.addCleanup(lambda: subprocess.run(["rm", "-rf", "--one-file-system", self.folder], check=True))
        self.install_debian()

    def mirror(self):
        """Where apt of this host fetches Debian 12 from."""
        found = consumer.run("apt-get", "indextargets", "--format", "$(CODENAME) $(COMPONENT) $(REPO_URI)")
        for line in found.splitlines():
            codename, component, uri = line.split(" ", 2)
            if codename == CODENAME and component == "main":
                return uri
        self.skipTest("found no source of Debian 12 in apt's; expected one")

    def install_debian(self):
        try:
            consumer.run("debootstrap", "--variant=minbase", CODENAME, self.folder, self.mirror())
            self.inside("true")
        except AssertionError as error:
            self.skipTest("no Debian can be made here: %s" % str(error)[-500:])
        # libllvm19 came to Debian 12 as an update.
        for path in ["/etc/apt/sources.list", "/etc/resolv.conf"] + glob.glob("/etc/apt/sources.list.d/*.sources") + \
                glob.glob("/etc/apt/apt.conf.d/*proxy*"):
            if os.path.exists(path):
                shutil.copy(path, self.folder + path)

    def inside(self, *words):
        # /proc, by which generated code is opened, is mounted for this command only.
        script = 'mount -t proc proc "$1/proc" && exec chroot "$@"'
        return consumer.run("unshare", "--mount", "sh", "-c", script, "-", self.folder, *words, environment={
            "PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "DEBIAN_FRONTEND": "noninteractive", "HOME": "/root", "LC_ALL": "C"})

    def test_a_program_builds_and_trains(self):
        for package in (MAIN, RUNTIME):
            shutil.copy(package, self.folder + "/tmp")
        self.inside("apt-get", "update", "-qq")
        self.inside("apt-get", "install", "-y", "-qq", "--no-install-recommends",
                    "/tmp/" + os.path.basename(MAIN), "/tmp/" + os.path.basename(RUNTIME), *TOOLS)
        self.assertIn("partita %s\n" % VERSION, self.inside("partita", "--version"))
        examples = "/usr/share/partita/examples"
        self.inside("cmake", "-S", examples, "-B", "/tmp/build", "-DCMAKE_BUILD_TYPE=Release")
        self.inside("cmake", "--build", "/tmp/build")
        self.assertEqual("", self.inside("dpkg", "--verify", "partita", RUNTIME_NAME))
        self.assertEqual(consumer.LOSSES, self.inside("/tmp/build/linear_training", examples + "/linear_training.graph",
                                                      examples + "/machines/two_small_cpus.json"))
        self.inside("partita", "compile", examples + "/linear_training.graph", "--machine",
                    examples + "/machines/two_small_cpus.json", "--output", "/tmp/linear.plan")
        # The library runs alone, too.
        self.inside("dpkg", "--remove", "partita")
        self.assertEqual(consumer.LOSS_OF_RUN_PLAN, self.inside("/tmp/build/run_plan", "/tmp/linear.plan"))


if __name__ == "__main__":
    VERSION, SOVERSION = consumer.versions()
    RUNTIME_NAME = "libpartita-runtime" + SOVERSION
    MAIN, RUNTIME = ("%s/%s_%s_amd64.deb" % (consumer.PACKAGES, name, VERSION) for name in ("partita", RUNTIME_NAME))
    unittest.main()
