import ArgumentParser
import Cistern
import InputFormats

/// `cistern get`: writes the bytes of one value.
struct GetCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "get",
    abstract: "Write the bytes of a value to standard output.",
    discussion: """
      The bytes are those on disk: JSON for Codable values, and the unchanged bytes for byte arrays and strings. An \
      expired value counts as absent, unless --expired is given. A value also expires if it was not used for its time to \
      idle. The command opens the store for reading. \
      \(ExitStatus.explanation)

      Example:
        cistern get ./store articles news/42 | jq .title
      """)

  @Argument(help: "The store's directory.")
  var directory: String

  @Argument(help: "The cache's name.")
  var cache: String

  @OptionGroup var key: KeyArgument

  @Flag(help: "Write the value even if it has expired.")
  var expired = false

  func run() async throws {
    let key = try key.bytes()
    let store = try StoreOnDisk(reading: directory)
    let partition = try store.partition(cache)
    let record = partition.record(forKey: key)
    let isDamaged = partition.damagedCount > 0
    try await store.close()
    guard let record else {
      throw CommandFailure(
        isDamaged
          ? "the record of '\(KeyText.describe(key))' in '\(cache)' is damaged"
          : "'\(cache)' has no key '\(KeyText.describe(key))'", status: .negative)
    }
    if !expired, let end = record.metadata.end, end <= SystemClock().wallTime() {
      throw CommandFailure(
        "'\(KeyText.describe(key))' expired at \(TimestampText.removingFraction(from: TimestampText.format(end))); --expired writes it anyway",
        status: .negative)
    }
    guard !record.metadata.isNegative else {
      throw CommandFailure(
        "'\(KeyText.describe(key))' is a negative result: its last fetch found nothing", status: .negative)
    }
    Console.current.write(record.bytes)
  }
}
