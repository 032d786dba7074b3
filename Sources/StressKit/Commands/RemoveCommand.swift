import ArgumentParser
import Cistern

/// `cistern remove`: removes a key, or all of a cache.
struct RemoveCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "remove",
    abstract: "Remove a key of a cache, or all of them.",
    discussion: """
      Returns when the removal is on disk. Programs that hold the key in memory go on with what they hold. \
      \(ExitStatus.explanation)

      Examples:
        cistern remove ./store articles news/42
        cistern remove ./store articles --all
      """)

  @Argument(help: "The store's directory.")
  var directory: String

  @Argument(help: "The cache's name.")
  var cache: String

  @Argument(help: "The key.")
  var key: String?

  @Flag(help: "The key is given in hexadecimal.")
  var hex = false

  @Flag(help: "Remove every key of the cache.")
  var all = false

  func validate() throws {
    if (key == nil) != all { throw ValidationError("Give a key, or --all.") }
  }

  func run() async throws {
    let key = try key.map { try KeyText.bytes($0, isHexadecimal: hex) }
    let store = try StoreOnDisk(writing: directory)
    let partition = try store.partition(cache)
    let ticket =
      if let key { try removal(of: key, from: partition) } else { Optional(partition.stageRemovalOfAll()) }
    do {
      if let ticket { try await partition.waitForCommit(ticket) }
    } catch {
      throw CommandFailure("\(error)", status: .badInput)
    }
    try await store.close()
    if let key, ticket == nil {
      throw CommandFailure("'\(cache)' has no key '\(KeyText.describe(key))'", status: .negative)
    }
  }

  /// The removal's ticket; nil where there is nothing to remove.
  private func removal(of key: [UInt8], from partition: any SecondTierPartition) throws -> CommitTicket? {
    guard partition.contains(key.rawSpan) else { return nil }
    guard case .staged(let ticket) = partition.stage(.removal(key: key)) else {
      throw CommandFailure("the store in \(directory) refuses the removal", status: .badInput)
    }
    return ticket
  }
}
