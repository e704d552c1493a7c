"""A header compiled once: what includes it first need not parse the libraries that it names."""

load("@bazel_tools//tools/build_defs/cc:action_names.bzl", "ACTION_NAMES")
load("@bazel_tools//tools/cpp:toolchain_utils.bzl", "find_cpp_toolchain")

# The compiler takes a precompiled header only for sources of the same flags: these are what bazel gives each source,
# and `copts` what .bazelrc adds for the sources that are to use it. Other sources parse the header's text.
def _flags(ctx, source, output):
    toolchain = find_cpp_toolchain(ctx)
    features = cc_common.configure_features(
        ctx = ctx,
        cc_toolchain = toolchain,
        requested_features = ctx.features,
        unsupported_features = ctx.disabled_features,
    )
    folders = [".", ctx.genfiles_dir.path, ctx.bin_dir.path]
    root = ctx.label.workspace_root  # where another workspace takes this one by local_repository
    if root:
        folders = [root] + folders
    variables = cc_common.create_compile_variables(
        feature_configuration = features,
        cc_toolchain = toolchain,
        source_file = source.path,
        output_file = output.path,
        user_compile_flags = ctx.fragments.cpp.copts + ctx.fragments.cpp.cxxopts + ctx.attr.copts,
        quote_include_directories = depset(folders),
        use_pic = True,
    )
    return cc_common.get_memory_inefficient_command_line(
        feature_configuration = features,
        action_name = ACTION_NAMES.cpp_compile,
        variables = variables,
    )

def _precompiled_header_impl(ctx):
    header = ctx.actions.declare_file(ctx.label.name + "/" + ctx.attr.found_as)

    # The header's name may be a standard one, which sources in C get as it is.
    lines = ["#ifdef __cplusplus"] + ["#include \"%s\"" % include for include in ctx.attr.includes]
    ctx.actions.write(header, "\n".join(lines + ["#else", "#include_next <%s>" % ctx.attr.found_as, "#endif", ""]))
    compiled = ctx.actions.declare_file(header.basename + ".gch", sibling = header)

    # Asked for what it reads, the compiler keeps that in the precompiled header, for -fpch-deps.
    read = ctx.actions.declare_file(header.basename + ".d", sibling = header)
    toolchain = find_cpp_toolchain(ctx)
    ctx.actions.run(
        executable = toolchain.compiler_executable,
        arguments = ["-x", "c++-header", "-MD", "-MF", read.path] + _flags(ctx, header, compiled),
        inputs = depset([header] + ctx.files.hdrs, transitive = [toolchain.all_files]),
        outputs = [compiled, read],
        mnemonic = "CppPrecompile",
        progress_message = "Precompiling %s" % header.short_path,
    )
    return [DefaultInfo(files = depset([header, compiled]))]

precompiled_header = rule(
    implementation = _precompiled_header_impl,
    attrs = {
        "copts": attr.string_list(),
        # What sources include first. It is written to a folder of the rule's name, for a library to put on the include path.
        "found_as": attr.string(mandatory = True),
        # Of the project's own, those that `includes` need.
        "hdrs": attr.label_list(allow_files = [".h"]),
        "includes": attr.string_list(mandatory = True),
        "_cc_toolchain": attr.label(default = "@bazel_tools//tools/cpp:current_cc_toolchain"),
    },
    fragments = ["cpp"],
    toolchains = ["@bazel_tools//tools/cpp:toolchain_type"],
)
