import Foundation

/// The Swift subjects of `scripts/compare`. One process measures one subject under one workload, so that the driver
/// can alternate between the subjects of all languages. Peers/README.md describes the arguments and the output.
@main
enum Compared {
  static func main() async throws {
    let arguments = Array(CommandLine.arguments.dropFirst())
    switch arguments.first {
    case "memory": try await MemoryComparisons.run(Array(arguments.dropFirst()))
    case "coalescer": try await CoalescerCommand.run(Array(arguments.dropFirst()))
    case "eviction": try await EvictionComparison.run(Array(arguments.dropFirst()))
    case "disk": try await DiskComparison.run(Array(arguments.dropFirst()))
    default: fail("usage: Compared memory|coalescer|eviction|disk ARGUMENT…: see Peers/README.md")
    }
  }

  static func fail(_ message: String) -> Never {
    FileHandle.standardError.write(Data("Compared: \(message)\n".utf8))
    exit(2)
  }
}
