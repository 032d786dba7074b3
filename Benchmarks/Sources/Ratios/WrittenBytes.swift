import Cistern
import Workloads

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The bytes that the process writes for each byte of new values in a full file.
struct WrittenBytes {
  let limit = ByteCount.mebibytes(64)

  func rows() async throws -> [Row] {
    guard WrittenBytes.count != nil else {
      return [Row(title: "bytes written for each byte of a value", subject: "cannot be measured on this platform")]
    }
    return [try await row(size: 100), try await row(size: 1000)]
  }

  private func row(size: Int) async throws -> Row {
    let dense = try await cost(size: size, .dense)
    let ordered = try await cost(size: size, .ordered)
    return Row(
      title: "bytes written for each byte of a value of \(size) B", subject: decimal(dense),
      yardstick: "ordered layout", yardstickCost: decimal(ordered),
      result: (decimal(dense / ordered), "≤ 0.50", dense / ordered <= 0.5))
  }

  /// Overwrites half of a full file's values in random order, flushed after each 1,000.
  private func cost(size: Int, _ layout: DiskLayout) async throws -> Double {
    let entries = limit.bytes / size
    let stocked = try await StockedDisk(entries: entries, size: size, limit: limit, layout: layout)
    var randomness = Randomness(seed: 21)
    let value = [UInt8](repeating: 9, count: size)
    let writes = entries / 2
    let before = WrittenBytes.count ?? 0
    for number in 1...writes {
      stocked.cache.setValue(value, forKey: stocked.keys[Int.random(in: 0..<entries, using: &randomness)])
      if number.isMultiple(of: 1000) { try await stocked.store.flush() }
    }
    try await stocked.store.flush()
    let written = (WrittenBytes.count ?? 0) - before
    try await stocked.close()
    return Double(written) / Double(writes * size)
  }

  /// The bytes that this process gave to the system calls that write; nil if the platform does not count them.
  private static var count: Int? {
    guard let text = try? String(contentsOfFile: "/proc/self/io", encoding: .utf8) else { return nil }
    for line in text.split(separator: "\n") where line.hasPrefix("wchar: ") { return Int(line.dropFirst(7)) }
    return nil
  }
}
