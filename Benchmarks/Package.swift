// swift-tools-version: 6.2
import PackageDescription

// A package of its own, so that nobody who uses Cistern resolves what only measuring needs.
// CISTERN_RATIOS=1 leaves out the suites and the benchmark package: only the programs `Ratios` and `Compared` are built.
let ratiosOnly = Context.environment["CISTERN_RATIOS"] == "1"

var dependencies: [Package.Dependency] = [
  // By name, because a path's own name is that of the folder, which everyone chooses.
  .package(name: "cistern", path: "..")
]

var targets: [Target] = [
  .systemLibrary(
    name: "CLMDBDirect", pkgConfig: "lmdb", providers: [.apt(["liblmdb-dev"]), .brew(["lmdb"])]),
  .target(name: "CAllocations"),
  .target(
    name: "Workloads",
    dependencies: ["CAllocations", "CLMDBDirect", .product(name: "Cistern", package: "cistern")]),
  .executableTarget(
    name: "Ratios", dependencies: ["Workloads", .product(name: "Cistern", package: "cistern")]),
  // What scripts/compare runs of Swift, beside the harnesses in other languages.
  .executableTarget(
    name: "Compared",
    dependencies: ["CAllocations", "Workloads", .product(name: "Cistern", package: "cistern")], path: "Peers/Swift"),
]

if !ratiosOnly {
  dependencies.append(.package(url: "https://github.com/ordo-one/benchmark", from: "1.38.1", traits: []))
  for suite in ["MemoryHits", "Coalescing", "DiskReads", "DiskWrites", "EndToEnd"] {
    targets.append(
      .executableTarget(
        name: suite,
        dependencies: [
          "Workloads",
          .product(name: "Cistern", package: "cistern"),
          .product(name: "Benchmark", package: "benchmark"),
        ],
        path: "Benchmarks/\(suite)",
        plugins: [.plugin(name: "BenchmarkPlugin", package: "benchmark")]))
  }
}

let package = Package(
  name: "cistern-benchmarks",
  platforms: [.macOS(.v26)],
  dependencies: dependencies,
  targets: targets,
  swiftLanguageModes: [.v6]
)
