import Foundation

/// The Swift subjects of `scripts/compare`. One process measures one subject under one load, so that the driver can run
/// those of all languages in turn. What is printed, and the arguments, are described in Peers/README.md.
@main
enum Compared {
  static func main() async throws {
    let arguments = Array(CommandLine.arguments.dropFirst())
    switch arguments.first {
    case "memory": try await MemoryComparisons.run(Array(arguments.dropFirst()))
    case "coalescer": try await CoalescerComparisons.run(Array(arguments.dropFirst()))
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
