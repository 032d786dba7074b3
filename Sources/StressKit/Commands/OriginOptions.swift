import ArgumentParser
import Foundation
import InputFormats

/// The options for the origin of a run.
struct OriginOptions: ParsableArguments {
  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "Fetch from this server instead of the run's own. The names of keys are appended to the address.",
      valueName: "url"),
    transform: address)
  var origin: URL?

  @Flag(help: "Fetch from a function instead of an HTTP server. This puts more load on the cache.")
  var inProcess = false

  @Option(
    parsing: .unconditional,
    help: "The average latency of the origin. (default: the profile's)", transform: Duration.argument)
  var latency: Duration?

  @Option(
    parsing: .unconditional,
    help: "The fraction of requests that the origin fails: 0.02, or 2%. (default: the profile's)",
    transform: shareArgument)
  var failureRate: Double?

  func validate() throws {
    if origin != nil && inProcess { throw ValidationError("Use --origin or --in-process, not both.") }
  }

  var kind: StressConfiguration.OriginKind {
    origin.map { .remote($0) } ?? (inProcess ? .inProcess : .server)
  }

  private static func address(_ text: String) throws -> URL {
    guard let url = URL(string: text), url.scheme == "http" || url.scheme == "https", url.host != nil else {
      throw ValidationError("'\(text)' is not an address: expected http://… or https://….")
    }
    return url
  }
}
