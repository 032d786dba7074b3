import ArgumentParser
import Cistern
import InputFormats

/// `cistern list`: lists the keys of a cache, with the metadata of their records.
struct ListCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "List the keys of a cache, with their sizes and times.",
    discussion: """
      The command opens the store for reading; other programs can use it at the same time. A key that is printable \
      text in composed Unicode form is printed as it is, so that `cistern get` and `cistern remove` accept it. Other \
      keys are printed with \\x escapes and doubled backslashes. Keys that contain \\x and two hexadecimal digits are, \
      too. `cistern get --hex` and `cistern remove --hex` accept the member "keyHex" of --json for every key. In the \
      table, tags have the same form as keys. The column "expires" has the end of the time to idle, if \
      it is earlier than that of the lifetime. The times of --json have the format of `cistern export`: ISO 8601 with \
      nanoseconds. \(ExitStatus.explanation)

      Examples:
        cistern list ./store articles --prefix news/ --limit 20
        cistern list ./store articles --keys-only | wc -l
        cistern list ./store articles --json | jq -r '.[].keyHex'
      """)

  /// One record in the list.
  struct Entry: Encodable, Sendable {
    let key: String
    let keyHex: String
    let bytes: Int
    let cost: Int
    let created: String
    let expires: String?
    /// The time to idle in nanoseconds, as an export has it.
    let idle: UInt64?
    let schemaVersion: Int
    let tags: [String]
    /// The column "expires" of the table: the end of the lifetime or of the time to idle. It is no part of the JSON.
    let end: String?

    private enum CodingKeys: String, CodingKey {
      case key, keyHex, bytes, cost, created, expires, idle, schemaVersion, tags
    }
  }

  @Argument(help: "The store's directory.")
  var directory: String

  @Argument(help: "The cache's name; `cistern stat` prints the names.")
  var cache: String

  @Option(parsing: .unconditional, help: "List only keys that begin with this prefix.")
  var prefix: String?

  @Option(
    parsing: .unconditional, help: "List at most this many.", transform: { try integerArgument($0, in: 0...Int.max) })
  var limit: Int?

  @Flag(help: "Print only the keys, one on each line. Cannot be combined with --json.")
  var keysOnly = false

  @Flag(help: "Print JSON.")
  var json = false

  func validate() throws {
    guard keysOnly && json else { return }
    throw ValidationError("--keys-only prints text, so it cannot be combined with --json. Specify one of them.")
  }

  func run() async throws {
    let store = try StoreOnDisk(reading: directory)
    let partition = try store.partition(cache)
    let wanted = try KeyText.bytes(prefix ?? "")
    var entries: [Entry] = []
    var left = limit ?? .max
    let console = Console.current
    try partition.visitRecords { key, metadata, size in
      guard left > 0, console.hasReader else { return false }
      let key = key.copiedBytes()
      guard key.starts(with: wanted) else { return true }
      left -= 1
      if keysOnly {
        console.print(KeyText.describe(key))
      } else {
        entries.append(Entry(key: key, metadata, size: size))
      }
      return true
    }
    let damagedCount = partition.damagedCount
    try await store.close()
    if json {
      Console.current.write(try JSONOutput.encode(entries))
    } else if !keysOnly {
      Console.current.print(ListCommand.table(of: entries))
    }
    guard damagedCount == 0 else {
      throw CommandFailure(
        "the list lacks \(Formatting.count(damagedCount, "damaged record")) of '\(cache)'", status: .negative)
    }
  }

  private static func table(of entries: [Entry]) -> TextTable {
    var table = TextTable(["key", "bytes", "cost", "created", "expires", "tags"])
    for entry in entries {
      table.add([
        entry.key, Formatting.count(entry.bytes), Formatting.count(entry.cost),
        TimestampText.removingFraction(from: entry.created),
        entry.end.map(TimestampText.removingFraction(from:)) ?? "never",
        entry.tags.map { KeyText.describe($0) }.joined(separator: ","),
      ])
    }
    return table
  }
}

extension ListCommand.Entry {
  init(key: [UInt8], _ metadata: RecordMetadata, size: Int) {
    self.key = KeyText.describe(key)
    keyHex = KeyText.hexadecimal(key)
    bytes = size
    cost = Int(metadata.cost)
    created = TimestampText.format(metadata.created)
    expires = metadata.expires.map(TimestampText.format)
    idle = metadata.idle == 0 ? nil : metadata.idle
    end = metadata.end.map(TimestampText.format)
    schemaVersion = Int(metadata.schemaVersion)
    tags = metadata.tags
  }
}
