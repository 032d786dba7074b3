import Cistern
import Workloads

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The bytes that the process writes for each byte of a new value in a full file.
struct WrittenBytes {
  let limit = ByteCount.mebibytes(64)
  let size = 1000

  func rows() async throws -> [Row] {
    guard WrittenBytes.count != nil else {
      return [Row(title: "bytes written for each byte of a value", subject: "cannot be measured on this platform")]
    }
    return [try await row(.processCrash), try await row(.powerCut)]
  }

  private func row(_ durability: Durability) async throws -> Row {
    let dense = try await cost(durability, .dense)
    let ordered = try await cost(durability, .ordered)
    return Row(
      "bytes written for each byte of a value of \(size) B, \(durability)", dense: decimal(dense),
      ordered: decimal(ordered),
      result: (decimal(dense / ordered), "≤ 0.50", dense / ordered <= 0.5))
  }

  /// Writes new values of twice the limit, and then half as many, whose bytes count. Flushes after each 1,000.
  private func cost(_ durability: Durability, _ layout: DiskLayout) async throws -> Double {
    let stocked = try await StockedDisk(entries: 0, size: 0, limit: limit, durability: durability, layout: layout)
    let value = [UInt8](repeating: 9, count: size)
    let filling = 2 * limit.bytes / size
    let counted = filling / 2
    var before = 0
    for number in 0..<filling + counted {
      if number == filling {
        try await stocked.store.flush()
        before = WrittenBytes.count ?? 0
      }
      stocked.cache.setValue(value, forKey: Int.key(number))
      if number.isMultiple(of: 1000) { try await stocked.store.flush() }
    }
    try await stocked.store.flush()
    let written = (WrittenBytes.count ?? 0) - before
    try await stocked.close()
    return Double(written) / Double(counted * size)
  }

  /// The bytes that this process gave to the system calls that write; nil if the platform does not count them.
  private static var count: Int? {
    guard let text = try? String(contentsOfFile: "/proc/self/io", encoding: .utf8) else { return nil }
    for line in text.split(separator: "\n") where line.hasPrefix("wchar: ") { return Int(line.dropFirst(7)) }
    return nil
  }
}
