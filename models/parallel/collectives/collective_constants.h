#pragma once
#include <array>

/// Constants of NCCL's tuner: src/graph/tuning.cc at 5067397c2676. Microseconds and GB/s, in NCCL's own order.
namespace models::parallel::nccl_constants {

template <std::size_t rows>
using Table = std::array<std::array<double, 3>, rows>;

// Columns LL, LL128, Simple; rows tree, ring.
inline constexpr Table<2> base_us{{{6.8, 14.0, 8.4}, {6.6, 14.0, 8.4}}};
inline constexpr Table<2> nvlink_us{{{0.6, 1.25, 4.0}, {0.6, 1.9, 3.4}}};
inline constexpr Table<2> pcie_us{{{1.0, 1.9, 4.0}, {1.0, 2.5, 5.7}}};
inline constexpr Table<2> net_us{{{5.0, 8.5, 14.0}, {2.7, 4.0, 14.0}}};
inline constexpr double nvls_us = 25, nvls_net_us = 18, nvls_tree_net_us = 20.9;
inline constexpr double pat_base_us = 8, pat_net_us = 14, pat_log_divisor = 3.5, pat_rank_us = 2.8;
inline constexpr double collnet_direct_us = 3.7, collnet_direct_net_us = 31, collnet_arity_us = 0.4;
inline constexpr double collnet_chain_us = 2.8, collnet_chain_net_us = 30;

// Rows Volta, Ampere, Hopper, Blackwell; columns one node, two nodes, more. Of LL the row is the GPU's on one node and
// the CPU's on several: 0 for Intel and others.
inline constexpr Table<4> ll_max_gbps{{{39, 39, 20.4}, {87.7, 22.5, 19}, {141, 45, 35}, {282, 90, 70}}};
inline constexpr Table<4> channel_ring_ll128_gbps{{{20, 20, 20}, {20, 20, 20}, {36.7, 36.7, 36.7}, {40, 40, 40}}};
inline constexpr Table<4> channel_tree_ll128_gbps{{{20, 20, 20}, {20, 20, 20}, {36.7, 36.7, 29}, {55.6, 31.67, 20}}};
inline constexpr Table<4> channel_tree_gbps{{{26.5, 18.5, 10}, {24, 23.6, 17.8}, {38.7, 41.4, 36}, {70, 42.8, 24}}};
inline constexpr Table<4> channel_nvls_tree_gbps{{{26.5, 18.5, 10}, {24, 23.6, 17.8}, {0, 57.7, 45.5}, {0, 96, 80}}};
inline constexpr std::array<double, 4> nvls_efficiency{0, 0, 0.85, 0.74};
/// Channels of NVLS on a node of eight, which the caps of NVLSTree are taken with.
inline constexpr double nvls_channels = 8;

inline constexpr double ring_ll_share = 0.5, ring_ll128_share = 0.92, tree_share = 0.92, tree_ll_share = 1 / 3.8;
inline constexpr double tree_ll128_one_node = 7.0 / 9, tree_ll128_nodes = 120.0 / 128, tree_pattern_share = 0.85;
inline constexpr double pat_share = 0.75;
/// On the latency of a ring with Simple between nodes, once a channel has 64 bytes for each rank.
inline constexpr double plateau_volta = 1.9, plateau = 1.4, plateau_from_bytes = 64;

/// On the bandwidth of a tree, by floor(log2(bytes / 64)); rows LL, LL128, Simple.
inline constexpr std::array<std::array<double, 24>, 3> tree_correction{{
    {1, 1, 1, 1, .9, .8, .7, .7, .7, .7, .6, .5, .4, .4, .5, .6, .7, .8, .9, 1, 1, 1, 1, 1},
    {1, 1, 1, 1, 1, .9, .8, .8, .8, .7, .6, .6, .6, .6, .6, .6, .8, .9, .9, .9, .9, 1, 1, 1},
    {.9, .9, .9, .9, .9, .9, .9, .8, .7, .6, .6, .5, .5, .5, .5, .6, .7, .8, .7, .7, .8, .9, .9, .9},
}};
/// A tree of all-reduce uses the entries before this one.
inline constexpr int tree_corrections = 23;

}  // namespace models::parallel::nccl_constants
