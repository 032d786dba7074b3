import Cistern
import Foundation
import Synchronization
import Workloads

/// This project's disk tier under the workloads of Disk/main.cpp. Its memory holds no value, so that each lookup
/// reads from disk. Writes are committed in the background in batches, and their time ends with the last commit.
final class DiskComparison {
  private let folder: String
  private let entries: Int
  private let size: Int
  private var randomness = Randomness(seed: 1)
  private let values: [[UInt8]]
  private let keys: [Int]
  private var store: Store
  private var cache: Cache<Int, [UInt8]>

  /// `disk Cistern FOLDER ENTRIES SIZE`
  static func run(_ arguments: [String]) async throws {
    guard arguments.count == 4, arguments[0] == "Cistern", let entries = Int(arguments[2]), let size = Int(arguments[3])
    else { Compared.fail("disk Cistern FOLDER ENTRIES SIZE") }
    let folder = arguments[1] + "/Cistern"
    if FileManager.default.fileExists(atPath: folder) { try FileManager.default.removeItem(atPath: folder) }
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    try await DiskComparison(folder: folder, entries: entries, size: size).run()
    try FileManager.default.removeItem(atPath: folder)
  }

  private init(folder: String, entries: Int, size: Int) throws {
    self.folder = folder
    self.entries = entries
    self.size = size
    var randomness = Randomness(seed: 2)
    values = (0..<64).map { _ in (0..<size).map { _ in UInt8.random(in: 0...255, using: &randomness) } }
    keys = (0..<entries).map(Int.key).shuffled(using: &randomness)
    (store, cache) = try Self.open(folder, entries: entries, size: size)
  }

  private static func open(_ folder: String, entries: Int, size: Int) throws -> (Store, Cache<Int, [UInt8]>) {
    let store = try Store(
      directory: folder, memoryLimit: .bytes(1), diskLimit: .bytes(max(entries * (size + 200) * 4, 64 << 20)))
    return (store, try store.cache("values", of: [UInt8].self, keyedBy: Int.self))
  }

  private func run() async throws {
    try await report("load", over: entries) { try await write(keys) }
    try await store.close()
    report("space", metric: "bytes_per_entry", try space() / Double(entries))
    try await opening()
    let read = drawn(max(entries, 50_000))
    let written = drawn(min(entries / 2, 20_000))
    look(for: read)
    reportReads("Cistern", over: read.count) { look(for: read) }
    reportReads("Cistern arrays", over: read.count) {
      for key in read where cache.value(forKey: key)?.count != size { preconditionFailure("a miss") }
    }
    try await report("writes", over: written.count) { try await write(written) }
    let synced = drawn(200)
    try await report("synced writes", over: synced.count) {
      for (number, key) in synced.enumerated() { try await cache.commitValue(values[number % 64], forKey: key) }
    }
    try await readingAndWriting(read)
    let removed = keys.prefix(entries / 10)
    try await report("deletes", over: removed.count) {
      for key in removed { cache.removeValue(forKey: key) }
      try await store.flush()
    }
    try await store.close()
  }

  private func opening() async throws {
    var costs: [Double] = []
    for number in 0..<7 {
      let start = nanoseconds()
      (store, cache) = try Self.open(folder, entries: entries, size: size)
      look(for: [keys[0]])
      costs.append(Double(nanoseconds() - start))
      if number < 6 { try await store.close() }
    }
    report("open", metric: "ns", median(costs))
  }

  /// Reads while a writer writes one batch after the other.
  private func readingAndWriting(_ read: [Int]) async throws {
    let written = drawn(20_000)
    let hasEnded = Stop()
    let writer = Task.detached { [store, cache, values] in
      let start = nanoseconds()
      var count = 0
      repeat {
        for begin in stride(from: 0, to: written.count, by: 1_000) {
          for key in written[begin..<begin + 1_000] { cache.setValue(values[key & 63], forKey: key) }
          try await store.flush()
        }
        count += written.count
      } while !hasEnded.isSet
      return Double(nanoseconds() - start) / Double(count)
    }
    try await report("reads while writing", over: read.count) { look(for: read) }
    hasEnded.set()
    report("writes while reading", metric: "ns", try await writer.value)
  }

  private func write(_ keys: [Int]) async throws {
    for (number, key) in keys.enumerated() { cache.setValue(values[number % 64], forKey: key) }
    try await store.flush()
  }

  /// Looks up all keys. Each value is copied, as with the other engines.
  private func look(for keys: [Int]) {
    let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 8)
    defer { copy.deallocate() }
    for key in keys {
      let found = cache.withBytes(forKey: key) { bytes in
        bytes.withUnsafeBytes { copy.copyMemory(from: $0) }
        return bytes.byteCount
      }
      precondition(found == size, "a miss")
    }
  }

  private func drawn(_ count: Int) -> [Int] {
    (0..<count).map { _ in keys[Int.random(in: 0..<entries, using: &randomness)] }
  }

  /// Returns the size of the folder's allocated blocks, in bytes.
  private func space() throws -> Double {
    try FileManager.default.subpathsOfDirectory(atPath: folder).reduce(0) { sum, name in
      var about = stat()
      return lstat(folder + "/" + name, &about) == 0 ? sum + 512 * Double(about.st_blocks) : sum
    }
  }

  /// Reports the median of five passes, because one pass is short.
  private func reportReads(_ subject: String, over count: Int, _ body: () -> Void) {
    let costs = (0..<5).map { _ in
      let start = nanoseconds()
      body()
      return Double(nanoseconds() - start) / Double(count)
    }
    report("reads", subject: subject, metric: "ns", median(costs))
  }

  private func report(_ workload: String, over count: Int, _ body: () async throws -> Void) async throws {
    let start = nanoseconds()
    try await body()
    report(workload, metric: "ns", Double(nanoseconds() - start) / Double(count))
  }

  private func report(_ workload: String, subject: String = "Cistern", metric: String, _ value: Double) {
    Figure(group: "disk", workload: "\(workload)/\(size)/\(entries)", subject: subject, metric: metric, value: value)
      .print()
  }
}

/// A flag that is set once.
private final class Stop: Sendable {
  private let flag = Atomic(false)

  func set() { flag.store(true, ordering: .relaxed) }
  var isSet: Bool { flag.load(ordering: .relaxed) }
}
