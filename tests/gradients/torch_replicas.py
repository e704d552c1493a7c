# Steps of DistributedDataParallel, as it takes them: each replica is a process.
# SPDX-License-Identifier: Apache-2.0
"""Processes on this machine, which communicate by gloo over 127.0.0.1."""

import os
import tempfile

import torch
import torch.distributed as dist
import torch.multiprocessing


def _replica(rank, replicas, train, folder):
    os.environ["GLOO_SOCKET_IFNAME"] = "lo"
    torch.set_default_dtype(torch.float64)
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method="file://%s/rendezvous" % folder, rank=rank, world_size=replicas)
    found = train()
    if rank == 0:
        torch.save(found, folder + "/found")
    dist.destroy_process_group()


def on_replicas(train, replicas):
    """The result of `train()` in the process of rank 0. `train` is a module-level function that returns tensors."""
    with tempfile.TemporaryDirectory() as folder:
        torch.multiprocessing.spawn(_replica, (replicas, train, folder), replicas)
        return torch.load(folder + "/found")


def own_part(batch):
    """Equal shards: DistributedDataParallel weights replicas equally, whatever their number of examples."""
    assert len(batch) % dist.get_world_size() == 0
    return batch.chunk(dist.get_world_size())[dist.get_rank()]


def mean_of_replicas(loss):
    mean = loss.detach().clone()
    dist.all_reduce(mean)
    return mean / dist.get_world_size()
