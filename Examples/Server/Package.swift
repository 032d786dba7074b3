// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "article-server",
  platforms: [.macOS(.v26)],
  dependencies: [
    // The trait adds the product CisternService. A package of yours names the repository here.
    .package(name: "cistern", path: "../..", traits: ["Service"]),
    .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.25.0"),
    .package(url: "https://github.com/swift-server/async-http-client", from: "1.30.0"),
    .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
    .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.0"),
    .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
  ],
  targets: [
    .target(
      name: "ArticleServer",
      dependencies: [
        .product(name: "Cistern", package: "cistern"),
        .product(name: "CisternService", package: "cistern"),
        .product(name: "Hummingbird", package: "hummingbird"),
        .product(name: "AsyncHTTPClient", package: "async-http-client"),
        .product(name: "HTTPTypes", package: "swift-http-types"),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
        .product(name: "Logging", package: "swift-log"),
        .product(name: "CoreMetrics", package: "swift-metrics"),
      ]),
    .executableTarget(
      name: "Server",
      dependencies: [
        "ArticleServer",
        .product(name: "Logging", package: "swift-log"),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
      ]),
    .testTarget(
      name: "ArticleServerTests",
      dependencies: [
        "ArticleServer",
        .product(name: "Cistern", package: "cistern"),
        .product(name: "CisternTesting", package: "cistern"),
        .product(name: "Hummingbird", package: "hummingbird"),
        .product(name: "AsyncHTTPClient", package: "async-http-client"),
      ]),
  ],
  swiftLanguageModes: [.v6]
)
