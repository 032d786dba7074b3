// swift-tools-version: 6.2
import PackageDescription

// CISTERN_BUILD is a list of options, with commas between them:
// - `core` leaves out CisternService, the command line and what only they need (an HTTP server, argument parsing), so that the
//   library's own tests build in seconds.
// - `service` leaves out the command line, and all tests but those of CisternService.
// - `units` leaves out the tests of several targets together, and the trials of `scripts/torture`.
// - `layouts` makes the environment variable CISTERN_LAYOUT of a process the layout of its new data files. `core` implies it.
// - `strict` makes warnings errors. Continuous integration sets it.
let options = (Context.environment["CISTERN_BUILD"] ?? "").split(separator: ",")
let coreOnly = options.contains("core")
let serviceOnly = options.contains("service")
let layouts = coreOnly || options.contains("layouts")
let strict = options.contains("strict")

let swiftSettings: [SwiftSetting] =
  [
    .strictMemorySafety(),
    .enableUpcomingFeature("ExistentialAny"),
    .enableExperimentalFeature("Lifetimes"),
  ] + (strict ? [.treatAllWarnings(as: .error)] : [])

// The program `cistern` is no product: the package manager builds an executable of the root package in any case. A package
// that depends on this one would otherwise resolve the packages of the program.
var products: [Product] = [
  .library(name: "Cistern", targets: ["Cistern"]),
  .library(name: "CisternCore", targets: ["CisternCore"]),
  .library(name: "JSONMergePatch", targets: ["JSONMergePatch"]),
  .library(name: "CisternTesting", targets: ["CisternTesting"]),
]

var targets: [Target] = [
  .systemLibrary(
    name: "CLMDB",
    pkgConfig: "lmdb",
    providers: [.apt(["liblmdb-dev"]), .brew(["lmdb"])]
  ),
  .target(name: "CSupport"),
  .target(name: "Locking", dependencies: ["CSupport"], swiftSettings: swiftSettings),
  .target(name: "Eviction", dependencies: ["Locking"], swiftSettings: swiftSettings),
  .target(name: "LMDB", dependencies: ["CLMDB", "CSupport", "Locking"], swiftSettings: swiftSettings),
  .target(name: "JSONMergePatch", swiftSettings: swiftSettings),
  .target(
    name: "CisternCore", dependencies: ["CSupport", "Eviction", "JSONMergePatch", "Locking"],
    swiftSettings: swiftSettings),
  .target(
    name: "CisternDisk", dependencies: ["CSupport", "CisternCore", "LMDB", "Locking"],
    // The library's own tests and trials use both layouts of data files.
    swiftSettings: swiftSettings + (layouts ? [.define("LAYOUT_OF_ENVIRONMENT")] : [])),
  .target(name: "Cistern", dependencies: ["CisternCore", "CisternDisk", "Locking"], swiftSettings: swiftSettings),
  .target(name: "CisternTesting", dependencies: ["CisternCore", "Locking"], swiftSettings: swiftSettings),
  // Temporary directories for tests and trials. Benchmarks have a symbolic link to the type.
  .target(name: "TestDirectories", path: "Tests/TestDirectories", swiftSettings: swiftSettings),
  .target(name: "TestProcesses", path: "Tests/TestProcesses", swiftSettings: swiftSettings),
  // Fixtures that several test targets share.
  .target(
    name: "CisternTestSupport",
    dependencies: [
      "Cistern", "CisternCore", "CisternDisk", "CisternTesting", "Locking", "TestDirectories", "TestProcesses",
    ],
    path: "Tests/TestSupport", swiftSettings: swiftSettings),
  .testTarget(
    name: "LMDBTests",
    dependencies: ["CisternTesting", "LMDB", "CLMDB", "Locking", "TestDirectories", "TestProcesses"],
    swiftSettings: swiftSettings),
  // A process for the disk tier's tests to kill, and to share a directory with.
  .executableTarget(
    name: "DiskChild", dependencies: ["Cistern", "CisternDisk", "CisternTesting"], path: "Tests/DiskChild",
    swiftSettings: swiftSettings),
  .testTarget(
    name: "EvictionTests", dependencies: ["Cistern", "CisternTesting", "Eviction"], swiftSettings: swiftSettings),
  .testTarget(
    name: "JSONMergePatchTests", dependencies: ["CisternTesting", "JSONMergePatch"], swiftSettings: swiftSettings),
  .testTarget(
    name: "LockingTests", dependencies: ["Locking"], swiftSettings: swiftSettings),
  .testTarget(
    name: "CisternCoreTests",
    dependencies: [
      "CisternCore", "CisternTestSupport", "CisternTesting", "Eviction", "Locking",
    ],
    swiftSettings: swiftSettings),
  .testTarget(
    name: "CisternDiskTests",
    dependencies: [
      "CisternCore", "CisternDisk", "CisternTestSupport", "CisternTesting", "DiskChild", "LMDB", "Locking",
    ],
    swiftSettings: swiftSettings),
  // Tests of all targets together.
  .testTarget(
    name: "CisternTests",
    dependencies: [
      "Cistern", "CisternCore", "CisternDisk", "CisternTestSupport", "CisternTesting", "DiskChild", "LMDB", "Locking",
    ],
    swiftSettings: swiftSettings),
  .testTarget(
    name: "CisternTestingTests", dependencies: ["Cistern", "CisternTesting", "Locking"], swiftSettings: swiftSettings),
]

#if os(Linux)
  // The program that `scripts/torture` kills, cuts off from power, damages and gives faulty files. It preloads libraries and
  // reads `/proc`.
  targets.append(
    .executableTarget(
      name: "Torture",
      dependencies: ["Cistern", "CisternDisk", "CisternTesting", "LMDB", "Locking", "TestDirectories"],
      path: "Tests/Torture",
      exclude: ["faults.c", "recorder.c"],
      swiftSettings: swiftSettings))
#endif

var dependencies: [Package.Dependency] = []

// The trait `Service` adds the product CisternService. A package that does not enable it resolves none of these packages,
// because every use of them has the trait as its condition. Without the trait, the sources of the targets are empty.
var traits: Set<Trait> = []

if !coreOnly {
  traits = [
    .trait(
      name: "Service", description: "The product CisternService: life cycle, metrics, logs and traces of a server.")
  ]
  func server(_ name: String, _ package: String) -> Target.Dependency {
    .product(name: name, package: package, condition: .when(traits: ["Service"]))
  }
  products += [.library(name: "CisternService", targets: ["CisternService"])]
  dependencies += [
    .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
    .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.7.0"),
    .package(url: "https://github.com/apple/swift-log", from: "1.6.0"),
  ]
  targets += [
    .target(
      name: "CisternService",
      dependencies: [
        "CisternCore", "Locking",
        server("ServiceLifecycle", "swift-service-lifecycle"),
        server("Metrics", "swift-metrics"),
        server("Logging", "swift-log"),
        server("Tracing", "swift-distributed-tracing"),
      ],
      swiftSettings: swiftSettings),
    .testTarget(
      name: "CisternServiceTests",
      dependencies: [
        "Cistern", "CisternService", "CisternTestSupport", "CisternTesting", "Locking", "TestDirectories",
        server("ServiceLifecycle", "swift-service-lifecycle"),
        server("ServiceLifecycleTestKit", "swift-service-lifecycle"),
        server("Metrics", "swift-metrics"),
        server("MetricsTestKit", "swift-metrics"),
        server("Logging", "swift-log"),
        server("InMemoryLogging", "swift-log"),
        server("Tracing", "swift-distributed-tracing"),
        server("InMemoryTracing", "swift-distributed-tracing"),
      ],
      swiftSettings: swiftSettings),
  ]
}

if serviceOnly {
  targets.removeAll { $0.type == .test && $0.name != "CisternServiceTests" }
}

if !coreOnly && !serviceOnly {
  dependencies += [
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.5.0"),
    .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.5.0"),
    .package(url: "https://github.com/HdrHistogram/hdrhistogram-swift", from: "0.1.0"),
  ]
  targets += [
    .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"]), .brew(["zlib"])]),
    // The program's arguments, traces and exports: it reads what others wrote, and is fuzzed.
    .target(
      name: "InputFormats",
      dependencies: ["CisternCore", "CZlib", .product(name: "ArgumentParser", package: "swift-argument-parser")],
      swiftSettings: swiftSettings),
    .target(
      name: "StressKit",
      dependencies: [
        "Cistern", "CisternDisk", "CisternTesting", "InputFormats", "Locking",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
        .product(name: "Hummingbird", package: "hummingbird"),
        .product(name: "Histogram", package: "hdrhistogram-swift"),
        .product(name: "Logging", package: "swift-log"),
      ],
      swiftSettings: swiftSettings
    ),
    // The program `cistern`, which `scripts/stress` links to this name. A target `cistern` would have the same files as the
    // target `Cistern` on a file system that ignores case.
    .executableTarget(name: "CisternCommand", dependencies: ["StressKit"], swiftSettings: swiftSettings),
    .testTarget(
      name: "StressKitTests",
      dependencies: [
        "StressKit", "InputFormats", "Cistern", "CisternDisk", "CisternTesting", "Locking", "CisternCommand",
        "TestDirectories", "TestProcesses",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      swiftSettings: swiftSettings
    ),
    // Runs one input by itself; `scripts/torture fuzz` builds it with libFuzzer.
    .executableTarget(
      name: "Fuzz", dependencies: ["Cistern", "CisternDisk", "LMDB", "InputFormats", "CZlib", "TestDirectories"],
      path: "Tests/Fuzz",
      exclude: ["Corpora"],
      swiftSettings: swiftSettings),
  ]
}

if options.contains("units") {
  targets.removeAll { ["CisternTests", "Torture"].contains($0.name) }
}

let package = Package(
  name: "cistern",
  platforms: [.macOS(.v26), .iOS(.v26), .tvOS(.v26), .watchOS(.v26), .visionOS(.v26)],
  products: products,
  traits: traits,
  dependencies: dependencies,
  targets: targets,
  swiftLanguageModes: [.v6]
)
