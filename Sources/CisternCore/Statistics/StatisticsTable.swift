/// A table with names on the left and numbers on the right. Each column is as wide as its widest cell.
struct StatisticsTable: CustomStringConvertible {
  private var rows: [(name: String, value: String)] = []

  mutating func add(_ name: String, _ value: String) {
    rows.append((name, value))
  }

  mutating func add(_ name: String, _ count: Int) {
    add(name, Self.grouped(count))
  }

  mutating func add(_ name: String, percent ratio: Double) {
    let thousandths = Int((ratio * 1_000).rounded())
    add(name, "\(thousandths / 10).\(thousandths % 10) %")
  }

  mutating func add(_ memory: MemoryStatistics) {
    add("entries in memory", memory.entryCount)
    if let limit = memory.countLimit { add("limit on entries", Self.limit(limit)) }
    add("cost in memory", memory.cost)
    add("limit on cost", Self.limit(memory.costLimit))
  }

  mutating func add(_ disk: SecondTierStatistics) {
    add("disk", "\(disk.mode)")
    add("entries on disk", disk.entryCount)
    add("live on disk", "\(ByteCount.bytes(disk.liveBytes))")
    add("occupied on disk", "\(ByteCount.bytes(disk.occupiedBytes))")
    add("limit on disk", "\(ByteCount.bytes(disk.limitBytes))")
    add("staged", disk.stagedCount)
    add("commits", disk.commits)
    add("failed on disk", disk.failed)
    add("damaged on disk", disk.damaged)
  }

  var description: String {
    let nameWidth = rows.map(\.name.count).max() ?? 0
    let valueWidth = rows.map(\.value.count).max() ?? 0
    return rows.map { row in
      row.name + String(repeating: " ", count: nameWidth - row.name.count + 2)
        + String(repeating: " ", count: valueWidth - row.value.count) + row.value
    }.joined(separator: "\n")
  }

  /// Returns the text of a limit. The highest integer means "none".
  static func limit(_ limit: Int) -> String { limit == .max ? "none" : grouped(limit) }

  /// Returns a count with its digits in groups of three: "1,234,567".
  static func grouped(_ count: Int) -> String {
    let digits = Array(String(count.magnitude))
    let groups = stride(from: digits.count, to: 0, by: -3).map { end in String(digits[max(0, end - 3)..<end]) }
    return (count < 0 ? "-" : "") + groups.reversed().joined(separator: ",")
  }
}
