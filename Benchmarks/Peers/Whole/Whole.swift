import Foundation

/// A client of an HTTP origin on loopback, with a cache and without, for `scripts/compare`. One process measures one
/// subject; beside it run the origin, a process of its own, and Redis where that is the subject. What is printed, and the
/// arguments, are described in Peers/README.md.
@main
enum Whole {
  static func main() async throws {
    // Nothing outlives this, whoever no longer waits: the other processes end with this one.
    alarm(900)
    let arguments = Array(CommandLine.arguments.dropFirst())
    switch arguments.first {
    case "whole": try await WholeComparisons.run(Array(arguments.dropFirst()))
    case "origin": try await OriginServer.run(Array(arguments.dropFirst()))
    default: fail("usage: Whole whole|origin ARGUMENT…: see Peers/README.md")
    }
  }

  static func fail(_ message: String) -> Never {
    FileHandle.standardError.write(Data("Whole: \(message)\n".utf8))
    exit(2)
  }
}
