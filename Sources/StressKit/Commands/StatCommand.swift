import ArgumentParser
import Cistern
import Foundation
import InputFormats

/// `cistern stat`: prints the contents of a store, in total and for each cache.
struct StatCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "stat",
    abstract: "Print the caches of a store, their entries and sizes, and the store's limit.",
    discussion: """
      The command only reads; other programs can use the store at the same time. Names that are not printable are \
      printed with \\x escapes. \(StoreOnDisk.countNote) \(ExitStatus.explanation)
      """)

  /// The JSON report.
  struct Report: Codable, Sendable {
    struct CacheRow: Codable, Sendable {
      let name: String
      let entries: Int
      let bytes: Int
    }

    let directory: String
    let fileBytes: Int
    let limitBytes: Int
    let entries: Int
    let liveBytes: Int
    let caches: [CacheRow]

    init(directory: String, _ statistics: SecondTierStatistics, caches: [CacheRow]) {
      self.directory = directory
      fileBytes = statistics.occupiedBytes
      limitBytes = statistics.limitBytes
      entries = caches.reduce(0) { $0 + $1.entries }
      liveBytes = caches.reduce(0) { $0 + $1.bytes }
      self.caches = caches
    }
  }

  @Argument(help: "The store's directory.")
  var directory: String

  @Flag(help: "Print JSON.")
  var json = false

  func run() async throws {
    let store = try StoreOnDisk(reading: directory)
    let report = try report(store)
    try await store.close()
    if json {
      Console.current.write(try JSONOutput.encode(report))
    } else {
      Console.current.print(describe(report))
    }
  }

  private func report(_ store: StoreOnDisk) throws -> Report {
    let caches = try store.partitions().map { name, partition in
      let statistics = partition.statistics
      return Report.CacheRow(name: name, entries: statistics.entryCount, bytes: statistics.liveBytes)
    }
    return Report(directory: directory, store.tier.statistics, caches: caches)
  }

  private func describe(_ report: Report) -> String {
    let head = """
      \(report.directory): \(Formatting.count(report.entries, "entry", "entries")), \(ByteCount.bytes(report.liveBytes)) of keys \
      and values; the file has \(ByteCount.bytes(report.fileBytes)), its limit is \
      \(ByteCount.bytes(report.limitBytes))
      """
    guard !report.caches.isEmpty else { return head }
    var table = TextTable(["cache", "entries", "bytes"])
    for cache in report.caches {
      table.add([
        KeyText.describe(cache.name), Formatting.count(cache.entries), ByteCount.bytes(cache.bytes).description,
      ])
    }
    return "\(head)\n\n\(table)"
  }
}
