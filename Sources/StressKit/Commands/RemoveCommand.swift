import ArgumentParser
import Cistern
import CisternDisk
import InputFormats

/// `cistern remove`: removes a key of a cache, the keys with a prefix or a tag, or all keys.
struct RemoveCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "remove",
    abstract: "Remove a key of a cache, the keys with a prefix or a tag, or all keys.",
    discussion: """
      The command returns when the removal is on disk. With --prefix or --tag, it also waits until the records are \
      purged, at most 5 seconds without progress. The exit code is 1 if no key matches the key, prefix or tag. \
      A running program keeps the values that it has in memory. The data file does not shrink; `cistern compact` \
      makes it smaller. \(ExitStatus.explanation)

      Examples:
        cistern remove ./store articles news/42
        cistern remove ./store articles --prefix news/
        cistern remove ./store articles --tag author:7
        cistern remove ./store articles --all
        cistern remove ./store numbers -- -5
      """)

  /// The records to remove.
  enum Scope: Equatable {
    case key([UInt8])
    case prefix([UInt8])
    case tag(String)
    case all
  }

  @Argument(help: "The store's directory.")
  var directory: String

  @Argument(help: "The cache's name.")
  var cache: String

  @Argument(help: "The key. Write -- before a key that begins with a hyphen.")
  var key: String?

  @Option(parsing: .unconditional, help: "Remove every key that begins with this prefix.")
  var prefix: String?

  @Option(parsing: .unconditional, help: "Remove every key whose value has this tag.")
  var tag: String?

  @Flag(help: "Remove every key of the cache.")
  var all = false

  @Flag(help: "The key or the prefix is in hexadecimal.")
  var hex = false

  func validate() throws {
    _ = try scope()
  }

  func scope() throws -> Scope {
    let given = [key != nil, prefix != nil, tag != nil, all].count { $0 }
    guard given == 1 else {
      throw ValidationError(
        "Specify one of these: a key (after --, if it begins with a hyphen), --prefix, --tag, or --all.")
    }
    if hex && (tag != nil || all) { throw ValidationError("--hex applies only to a key or a prefix.") }
    if let key { return .key(try KeyText.bytes(key, isHexadecimal: hex)) }
    if let prefix {
      // A script with an unset variable must not remove everything.
      if prefix.isEmpty {
        throw ValidationError("The prefix is empty, so every key would match. Use --all instead.")
      }
      return .prefix(try KeyText.bytes(prefix, isHexadecimal: hex))
    }
    guard let tag else { return .all }
    if tag.isEmpty { throw ValidationError("The tag is empty. A tag has at least one character.") }
    return .tag(tag)
  }

  func run() async throws {
    let scope = try scope()
    try await StoreOnDisk(writing: directory).use { store in
      let partition = try store.partition(cache)
      guard let ticket = try stage(scope, in: partition) else {
        throw CommandFailure("'\(cache)' has no key \(describe(scope))", status: .negative)
      }
      try await partition.waitForCommit(ticket)
      switch scope {
      case .prefix, .tag: try await partition.waitForPurge()
      // These removals leave no record to purge.
      case .key, .all: break
      }
    }
  }

  /// Stages the removal. Returns nil if no record matches.
  private func stage(_ scope: Scope, in partition: DiskPartition) throws -> CommitTicket? {
    switch scope {
    case .key(let key):
      guard partition.contains(key.rawSpan) else { return nil }
      guard case .staged(let ticket) = partition.stage(.removal(key: key)) else {
        throw CommandFailure("the store in \(directory) does not accept the removal", status: .badInput)
      }
      return ticket
    case .prefix(let prefix):
      guard try partition.hasRecord(where: { key, _ in key.starts(with: prefix) }) else { return nil }
      return partition.stageInvalidation(.prefix(prefix)).ticket
    case .tag(let tag):
      guard try partition.hasRecord(where: { _, metadata in metadata.tags.contains(tag) }) else { return nil }
      return partition.stageInvalidation(.tag(tag)).ticket
    case .all:
      return partition.stageRemovalOfAll()
    }
  }

  private func describe(_ scope: Scope) -> String {
    switch scope {
    case .key(let key): "'\(KeyText.describe(key))'"
    case .prefix(let prefix): "that begins with '\(KeyText.describe(prefix))'"
    case .tag(let tag): "with the tag '\(tag)'"
    case .all: ""
    }
  }
}

extension DiskPartition {
  /// Returns whether a committed record satisfies `isWanted`. The search stops at the first such record.
  fileprivate func hasRecord(where isWanted: (_ key: [UInt8], RecordMetadata) -> Bool) throws -> Bool {
    var isFound = false
    try visitRecords { key, metadata, _ in
      isFound = isWanted(key.copiedBytes(), metadata)
      return !isFound
    }
    return isFound
  }
}
