"""The linker of shared libraries that hide symbols."""

# gold ignores a version script for symbols that another shared library has with a version, such as those of std::string
# and of OpenMP. Linkopts for LLVM's linker, of the package lld-19.
LLD = [
    "-B/usr/lib/llvm-19/bin",
    "-fuse-ld=lld",
]
