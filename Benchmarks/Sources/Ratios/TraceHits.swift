import Cistern
import Workloads

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The hits on disk of recorded requests, in both layouts. Each request that misses stores the value.
struct TraceHits {
  /// The name of a trace, and the key and size of each request. A size of nil stands for 1,000 bytes.
  private struct Trace {
    let name: String
    let requests: [(key: Int, size: Int?)]

    /// Reads lines of `key` or `key,size`.
    init(_ path: String, name: String) throws {
      self.name = name
      requests = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n").compactMap { line in
        let fields = line.split(separator: ",")
        guard let first = fields.first, let key = Int(first) else { return nil }
        return (key, fields.count > 1 ? Int(fields[1]) : nil)
      }
    }

    /// A tenth of the bytes of all values, and at least the smallest limit of a dense file.
    var limit: ByteCount {
      var sizes: [Int: Int] = [:]
      for (key, size) in requests { sizes[key] = size ?? 1000 }
      return .bytes(max(sizes.values.reduce(0, +) / 10, 4 << 20))
    }
  }

  /// The folder of traces, as `*.csv` files. Nil for none.
  let folder: String?

  func rows() async throws -> [Row] {
    guard let folder else { return [Row(title: "hits of traces", subject: "needs --traces FOLDER")] }
    var rows: [Row] = []
    for file in try FileManager.default.contentsOfDirectory(atPath: folder).sorted() where file.hasSuffix(".csv") {
      rows.append(try await row(try Trace(folder + "/" + file, name: String(file.dropLast(4)))))
    }
    return rows
  }

  private func row(_ trace: Trace) async throws -> Row {
    let (dense, ordered) = (try await hits(trace, .dense), try await hits(trace, .ordered))
    return Row(
      "hits of the trace \(trace.name), \(trace.limit)", dense: percent(dense), ordered: percent(ordered),
      result: (percent(dense), "> \(percent(ordered))", dense > ordered))
  }

  private func percent(_ share: Double) -> String { "\(decimal(share * 100)) %" }

  private func hits(_ trace: Trace, _ layout: DiskLayout) async throws -> Double {
    let stocked = try await StockedDisk(
      entries: 0, size: 0, limit: trace.limit, durability: .processCrash, layout: layout)
    var count = 0
    for (number, request) in trace.requests.enumerated() {
      if stocked.request(Int.key(request.key), size: request.size ?? 1000) { count += 1 }
      if number.isMultiple(of: 500) { try await stocked.store.flush() }
    }
    try await stocked.close()
    return Double(count) / Double(trace.requests.count)
  }
}
