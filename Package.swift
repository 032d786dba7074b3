// swift-tools-version: 6.2
import PackageDescription

// CISTERN_CORE=1 leaves out the command line and what only it needs (an HTTP server, argument parsing), so that the
// library's own tests build in seconds. CISTERN_STRICT=1 makes warnings errors; continuous integration sets it.
// CISTERN_FUZZING=1 is for `scripts/torture fuzz` alone: the fuzzed targets, and no more of the rest than they need.
let fuzzing = Context.environment["CISTERN_FUZZING"] == "1"
let coreOnly = Context.environment["CISTERN_CORE"] == "1" || fuzzing
let strict = Context.environment["CISTERN_STRICT"] == "1"

let swiftSettings: [SwiftSetting] =
  [
    .strictMemorySafety(),
    .enableUpcomingFeature("ExistentialAny"),
    .enableExperimentalFeature("Lifetimes"),
  ] + (strict ? [.treatAllWarnings(as: .error)] : [])

var products: [Product] = [
  .library(name: "Cistern", targets: ["Cistern"]),
  .library(name: "CisternTesting", targets: ["CisternTesting"]),
]

var targets: [Target] = [
  .systemLibrary(
    name: "CLMDB",
    pkgConfig: "lmdb",
    providers: [.apt(["liblmdb-dev"]), .brew(["lmdb"])]
  ),
  .target(name: "CThreadSanitizer"),
  .target(name: "CMemoryHints"),
  .target(name: "CThreads"),
  .target(name: "Locking", dependencies: ["CThreadSanitizer", "CThreads"], swiftSettings: swiftSettings),
  .target(name: "LMDB", dependencies: ["CLMDB", "CMemoryHints", "Locking"], swiftSettings: swiftSettings),
  .target(name: "Cistern", dependencies: ["LMDB", "Locking", "CMemoryHints"], swiftSettings: swiftSettings),
  .target(name: "CisternTesting", dependencies: ["Cistern", "Locking"], swiftSettings: swiftSettings),
  .testTarget(
    name: "LMDBTests", dependencies: ["CisternTesting", "LMDB", "CLMDB", "Locking"], swiftSettings: swiftSettings),
  // A process for the disk tier's tests to kill, and to share a directory with.
  .executableTarget(
    name: "DiskChild", dependencies: ["Cistern"], path: "Tests/DiskChild", swiftSettings: swiftSettings),
  // What `scripts/torture` kills, cuts off from power, damages and gives faulty files.
  .executableTarget(
    name: "Torture", dependencies: ["Cistern", "CisternTesting", "LMDB"], path: "Tests/Torture",
    exclude: ["faults.c", "recorder.c"],
    swiftSettings: swiftSettings),
  .testTarget(
    name: "CisternTests", dependencies: ["Cistern", "CisternTesting", "DiskChild", "Locking", "LMDB", "CLMDB"],
    swiftSettings: swiftSettings),
  .testTarget(
    name: "CisternTestingTests", dependencies: ["Cistern", "CisternTesting", "Locking"], swiftSettings: swiftSettings),
]

var dependencies: [Package.Dependency] = []

if !coreOnly {
  products.append(.executable(name: "cistern", targets: ["CisternCommand"]))
  dependencies += [
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.5.0"),
    .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.5.0"),
    .package(url: "https://github.com/HdrHistogram/hdrhistogram-swift", from: "0.1.0"),
    .package(url: "https://github.com/apple/swift-log", from: "1.6.0"),
  ]
  targets += [
    .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"]), .brew(["zlib"])]),
    .target(
      name: "StressKit",
      dependencies: [
        "Cistern", "CisternTesting", "Locking", "CZlib",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
        .product(name: "Hummingbird", package: "hummingbird"),
        .product(name: "Histogram", package: "hdrhistogram-swift"),
        .product(name: "Logging", package: "swift-log"),
      ],
      swiftSettings: swiftSettings
    ),
    // The folder's name differs from the product's, `cistern`: beside `Sources/Cistern` that would be one folder on a
    // file system that ignores case.
    .executableTarget(name: "CisternCommand", dependencies: ["StressKit"], swiftSettings: swiftSettings),
    .testTarget(
      name: "StressKitTests",
      dependencies: [
        "StressKit", "Cistern", "CisternTesting", "Locking", "CisternCommand",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      swiftSettings: swiftSettings
    ),
  ]
}

if fuzzing {
  dependencies.append(.package(url: "https://github.com/apple/swift-argument-parser", from: "1.5.0"))
  targets += [
    .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"]), .brew(["zlib"])]),
    // Of the program only what reads what others wrote: without an HTTP server it is built in seconds.
    .target(
      name: "StressKit",
      dependencies: ["Cistern", "CZlib", .product(name: "ArgumentParser", package: "swift-argument-parser")],
      path: "Sources/StressKit",
      sources: [
        "Arguments", "Commands/KeyArgument.swift", "Export/ExportedRecord.swift", "Export/ExportedRecord+Reading.swift",
        "Export/TimestampText.swift", "Replay/ByteStream.swift", "Replay/GzipStream.swift", "Replay/LineReader.swift",
        "Replay/TraceError.swift", "Replay/TraceReader.swift",
      ],
      swiftSettings: swiftSettings),
    // libFuzzer brings the main function.
    .executableTarget(
      name: "Fuzz", dependencies: ["Cistern", "LMDB", "StressKit", "CZlib"], path: "Tests/Fuzz",
      exclude: ["Corpora"],
      swiftSettings: swiftSettings),
  ]
}

let package = Package(
  name: "cistern",
  platforms: [.macOS(.v26), .iOS(.v26), .tvOS(.v26), .watchOS(.v26), .visionOS(.v26)],
  products: products,
  dependencies: dependencies,
  targets: targets,
  swiftLanguageModes: [.v6]
)
