// swift-tools-version: 6.2
import PackageDescription

// A separate package, so that users of Cistern do not resolve dependencies that only measurements need.
// More options of CISTERN_BUILD, which the manifest of Cistern describes:
// - `ratios` leaves out the suites and the benchmark package, and builds only the programs `Ratios` and `Compared`.
// - `service`, which leaves out the command line, adds the program `Operations`. It counts the loads of CisternService,
//   too.
// - `whole` adds the program `Whole`, which needs an HTTP server and an HTTP client.
let options = (Context.environment["CISTERN_BUILD"] ?? "").split(separator: ",")
let ratiosOnly = options.contains("ratios")
let service = options.contains("service")
let whole = options.contains("whole")

var dependencies: [Package.Dependency] = [
  // By name, because the name of a path dependency is that of its folder, which users choose freely. The default traits
  // are none. An empty list is an error if the manifest of Cistern declares no trait, as with `core`.
  .package(name: "cistern", path: "..", traits: service ? ["Service"] : [.defaults])
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
  // The Swift subjects of scripts/compare. The harnesses in other languages have their own builds.
  .executableTarget(
    name: "Compared",
    dependencies: [
      "CAllocations", "Workloads", .product(name: "Cistern", package: "cistern"),
      .product(name: "CisternCore", package: "cistern"),
    ], path: "Peers/Swift"),
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

if service {
  targets.append(
    .executableTarget(
      name: "Operations",
      dependencies: [
        "Workloads",
        .product(name: "Cistern", package: "cistern"),
        .product(name: "CisternService", package: "cistern"),
      ]))
}

if whole {
  dependencies += [
    .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.5.0"),
    .package(url: "https://github.com/swift-server/async-http-client", from: "1.24.0"),
    .package(url: "https://github.com/apple/swift-log", from: "1.6.0"),
    .package(url: "https://github.com/apple/swift-nio", from: "2.81.0"),
  ]
  targets.append(
    .executableTarget(
      name: "Whole",
      dependencies: [
        "Workloads",
        .product(name: "Cistern", package: "cistern"),
        .product(name: "AsyncHTTPClient", package: "async-http-client"),
        .product(name: "Hummingbird", package: "hummingbird"),
        .product(name: "Logging", package: "swift-log"),
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOPosix", package: "swift-nio"),
      ],
      path: "Peers/Whole"))
}

let package = Package(
  name: "cistern-benchmarks",
  platforms: [.macOS(.v26)],
  dependencies: dependencies,
  targets: targets,
  swiftLanguageModes: [.v6]
)
