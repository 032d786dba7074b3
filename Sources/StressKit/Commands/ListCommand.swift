import ArgumentParser
import Cistern
import Foundation

/// `cistern list`: the keys of a cache, with what their records say.
struct ListCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "List the keys of a cache, with their sizes and times.",
    discussion: """
      Opens the store to read; others may use it meanwhile. Keys that are no text are shown with \\x escapes. \
      \(ExitStatus.explanation)

      Examples:
        cistern list ./store articles --prefix news/ --limit 20
        cistern list ./store articles --keys-only | wc -l
      """)

  /// A line of the list.
  struct Entry: Codable, Sendable {
    let key: String
    let keyHex: String
    let bytes: Int
    let cost: Int
    let created: Date
    let expires: Date?
    let schemaVersion: Int
    let tags: [String]
  }

  @Argument(help: "The store's directory.")
  var directory: String

  @Argument(help: "The cache's name; `cistern stat` tells the names.")
  var cache: String

  @Option(help: "Only keys that begin with this.")
  var prefix: String?

  @Option(help: "List no more than this many.", transform: { try integerArgument($0, in: 0...Int.max) })
  var limit: Int?

  @Flag(help: "Print keys only, one a line.")
  var keysOnly = false

  @Flag(help: "Print JSON.")
  var json = false

  func run() async throws {
    let store = try StoreOnDisk(reading: directory)
    let partition = try store.partition(cache)
    let wanted = try KeyText.bytes(prefix ?? "")
    var entries: [Entry] = []
    var left = limit ?? .max
    partition.forEachRecord { key, metadata, size in
      guard left > 0 else { return false }
      let key = key.copiedBytes()
      guard key.starts(with: wanted) else { return true }
      left -= 1
      if keysOnly && !json {
        Console.current.print(KeyText.describe(key))
      } else {
        entries.append(Entry(key: key, metadata, size: size))
      }
      return true
    }
    try await store.close()
    if json {
      Console.current.write(try JSONOutput.encode(entries))
    } else if !keysOnly {
      Console.current.print(ListCommand.table(of: entries))
    }
  }

  private static func table(of entries: [Entry]) -> TextTable {
    var table = TextTable(["key", "bytes", "cost", "written", "expires", "tags"])
    for entry in entries {
      table.add([
        entry.key, Formatting.count(entry.bytes), Formatting.count(entry.cost), entry.created.formatted(.iso8601),
        entry.expires?.formatted(.iso8601) ?? "never", entry.tags.joined(separator: ","),
      ])
    }
    return table
  }
}

extension ListCommand.Entry {
  init(key: [UInt8], _ metadata: RecordMetadata, size: Int) {
    self.init(
      key: KeyText.describe(key), keyHex: KeyText.hexadecimal(key), bytes: size, cost: Int(metadata.cost),
      created: Date(metadata.created), expires: metadata.expires.map(Date.init),
      schemaVersion: Int(metadata.schemaVersion), tags: metadata.tags)
  }
}

extension Date {
  init(_ time: WallTime) {
    self.init(timeIntervalSince1970: Double(time.nanosecondsSince1970) / 1e9)
  }
}
