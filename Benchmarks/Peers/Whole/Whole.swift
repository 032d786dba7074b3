import Foundation

/// A client of an HTTP origin on loopback, with and without a cache, for `scripts/compare`. One process measures one
/// subject. The origin runs in a separate process, and so does Redis if it is the subject. Peers/README.md describes
/// the arguments and the output.
@main
enum Whole {
  static func main() async throws {
    // A hung run ends after 15 minutes, and the child processes end with this one.
    alarm(900)
    let arguments = Array(CommandLine.arguments.dropFirst())
    switch arguments.first {
    case "whole": try await WholeCommand.run(Array(arguments.dropFirst()))
    case "origin": try await OriginServer.run(Array(arguments.dropFirst()))
    default: fail("usage: Whole whole|origin ARGUMENT…: see Peers/README.md")
    }
  }

  static func fail(_ message: String) -> Never {
    FileHandle.standardError.write(Data("Whole: \(message)\n".utf8))
    exit(2)
  }
}
