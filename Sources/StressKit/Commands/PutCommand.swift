import ArgumentParser
import Cistern
import CisternDisk
import InputFormats

/// `cistern put`: stores the bytes of one value.
struct PutCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "put",
    abstract: "Store the bytes of standard input, or of a file, under a key.",
    discussion: """
      The bytes are stored unchanged; a cache of Codable values expects JSON. The command returns when the bytes are \
      on disk. A value that is too large for the store is refused, and the older value stays; the command then reads no \
      more of it. A running program keeps the values that it has in memory.

      A program with a newer schema migrates a value of an older version. The command therefore keeps the version of \
      the record that it replaces, unless --schema-version states another one. \(ExitStatus.explanation)

      Examples:
        echo '{"title":"Rain"}' | cistern put ./store articles news/42
        cistern put ./store pictures logo --file logo.png --expires-after 1h
        cistern put ./new-store pictures logo --file logo.png --disk-limit 64MiB
      """)

  @Argument(help: "The store's directory.")
  var directory: String

  @Argument(help: "The cache's name. A new name creates a cache.")
  var cache: String

  @OptionGroup var key: KeyArgument

  @Option(help: ArgumentHelp("Read this file, pipe or device instead of standard input.", valueName: "file"))
  var file: String?

  @Option(
    parsing: .unconditional,
    help: "The value's lifetime: \(Duration.argumentForm). (default: unlimited)", transform: Duration.positiveArgument)
  var expiresAfter: Duration?

  @Option(
    parsing: .unconditional,
    help: "The version of the schema that the bytes follow. (default: that of the replaced record, or 0)",
    transform: { try integerArgument($0, in: 0...Int(UInt32.max)) })
  var schemaVersion: Int?

  @Option(
    parsing: .unconditional,
    help: "Create the store with this limit if it does not exist: \(ByteCount.argumentForm).",
    transform: ByteCount.positive)
  var diskLimit: ByteCount?

  func run() async throws {
    let key = try key.bytes()
    try StoreOnDisk.requireCacheName(cache)
    // The check of the limit precedes the reading: without a limit, an endless input would fill the memory.
    let limit = try StoreOnDisk.limit(of: directory, orMakingWith: diskLimit)
    let bytes = try input(for: limit)
    var metadata = metadata(of: bytes)
    let size = RecordSize(subject: "the value", bytes: DiskTier.recordSize(key: key, metadata, bytes: bytes))
    try await StoreOnDisk(writing: directory, orMakingWith: diskLimit, toHold: size).use { store in
      let partition = try store.partition(cache, beginning: true)
      metadata.localVersion = partition.invalidationVersion
      metadata.schemaVersion = version(replacing: key, in: partition)
      guard case .staged(let ticket) = partition.stage(.record(key: key, metadata, bytes: bytes)) else {
        throw CommandFailure("the store in \(directory) does not accept the value: its disk fails", status: .badInput)
      }
      try await partition.waitForCommit(ticket)
      store.printEvictions()
    }
  }

  /// Returns the version of the schema for a value that replaces the record of a key.
  private func version(replacing key: [UInt8], in partition: DiskPartition) -> UInt32 {
    if let schemaVersion { return UInt32(schemaVersion) }
    return partition.withRecord(forKey: key.rawSpan) { metadata, _ in metadata.schemaVersion } ?? 0
  }

  /// Returns the metadata of the value. Its versions of the invalidation and of the schema depend on the open store.
  func metadata(of bytes: [UInt8]) -> RecordMetadata {
    let created = SystemClock().wallTime()
    let expires = expiresAfter.map { lifetime in
      WallTime(nanosecondsSince1970: created.nanosecondsSince1970 + Int64(lifetime.nanoseconds))
    }
    // The size of a record depends on whether it has an invalidation version. The maximum stands for the version
    // that it gets later.
    var metadata = RecordMetadata(created: created, expires: expires, cost: UInt32(clamping: max(1, bytes.count)))
    metadata.invalidationVersion = .max
    // An invalidation that another process commits before this value must not remove it.
    metadata.isSet = true
    return metadata
  }

  /// Reads the value. Throws as soon as it is longer than any record of a store with this limit.
  private func input(for limit: ByteCount) throws -> [UInt8] {
    let largest = try RecordSize.largest(limit: limit, in: directory)
    do {
      if let bytes = try InputBytes(file).all(upTo: largest) { return bytes }
    } catch let error as TraceError {
      throw CommandFailure("cannot read \(error.path): \(error.message)", status: .badInput)
    }
    throw RecordSize.refusal(
      "the value", "more than \(Formatting.count(largest)) bytes", limit: limit, largest: largest)
  }
}
