import Cistern
import CisternDisk
import Foundation
import InputFormats
import Locking

/// A store that a command reads or changes. The command opens it with the limit that the store records.
///
/// If a program opens a store and cannot use its data file, it sets the file aside and begins an empty one. A
/// command fails instead, and leaves the files unchanged.
struct StoreOnDisk: Sendable {
  let directory: String
  let tier: DiskTier
  private let reports: Reports

  private final class Reports: Sendable {
    private let received = Guarded<[StoreReport]>([])

    var all: [StoreReport] { received.withLock { $0 } }

    func add(_ report: StoreReport) {
      received.withLock { $0.append(report) }
    }

    /// Returns the message that a command prints for a report.
    static func message(of report: StoreReport) -> String {
      let head = "\(report.message) (\(report.location))"
      return report.cause.map { "\(head): \($0)" } ?? head
    }
  }

  /// Opens an existing store for reading. Throws if the store does not exist, or if its file cannot be read.
  init(reading directory: String) throws {
    let limit = try StoreOnDisk.recordedLimit(directory)
    try self.init(directory, limit: try limit.orFailure(StoreOnDisk.absence(directory)), isReadOnly: true)
  }

  /// Opens an existing store for writing.
  init(writing directory: String) throws {
    let limit = try StoreOnDisk.recordedLimit(directory)
    try self.init(directory, limit: try limit.orFailure(StoreOnDisk.absence(directory)), isReadOnly: false)
  }

  /// Opens a store for writing, or creates it with this limit.
  ///
  /// Throws if the store has another limit, or cannot hold `record`. The directory is then unchanged.
  init(writing directory: String, orMakingWith limit: ByteCount?, toHold record: RecordSize? = nil) throws {
    let limit = try StoreOnDisk.limit(of: directory, orMakingWith: limit)
    try record?.check(limit: limit, in: directory)
    try self.init(directory, limit: limit, isReadOnly: false)
  }

  /// Returns the limit of the store in a directory, or the limit to create it with. Throws if there is neither, or if
  /// they differ.
  static func limit(of directory: String, orMakingWith limit: ByteCount?) throws -> ByteCount {
    let recorded = try recordedLimit(directory)
    if let recorded, let limit, recorded != limit {
      throw CommandFailure(
        "the store in \(directory) has a limit of \(recorded.bytes) bytes, not \(limit.bytes): "
          + "omit --disk-limit, which is only for a new store", status: .badInput)
    }
    let remedy = DiskTier.hasDataFile(in: directory) ? "" : "; --disk-limit creates one"
    return try (recorded ?? limit).orFailure(absence(directory) + remedy)
  }

  private init(_ directory: String, limit: ByteCount, isReadOnly: Bool) throws {
    if !isReadOnly { try StoreOnDisk.requireUsableFile(in: directory, limit: limit) }
    self.directory = directory
    let reports = Reports()
    self.reports = reports
    do {
      tier = try DiskTier(directory: directory, limit: limit, isReadOnly: isReadOnly) { reports.add($0) }
    } catch {
      throw CommandFailure(error)
    }
    // A data file that is older than the store left it, for example a backup, can be read. `close()` prints the
    // report.
    if isReadOnly, let report = reports.all.first(where: { $0.code != .rolledBack }) {
      throw CommandFailure(Reports.message(of: report), status: .badInput)
    }
  }

  /// Throws if opening the store for writing would set the data file aside.
  private static func requireUsableFile(in directory: String, limit: ByteCount) throws {
    let reports = Reports()
    // Opening for reading changes nothing, and gives the same reports. If it throws, opening for writing throws,
    // too, and gives the reason.
    let tier = try? DiskTier(directory: directory, limit: limit, isReadOnly: true) { reports.add($0) }
    // The tier closes when it is released. This line keeps it until here, and it is released before the function
    // returns.
    withExtendedLifetime(tier) {}
    if let report = reports.all.first(where: { $0.code == .setAside }) {
      throw CommandFailure(
        "\(Reports.message(of: report)); nothing was changed. The next program that opens the store sets the file aside, and creates an empty one",
        status: .badInput)
    }
  }

  /// Throws if the directory has no store.
  static func requireStore(in directory: String) throws {
    _ = try recordedLimit(directory).orFailure(absence(directory))
  }

  /// Returns the damage to the structure of the data file. The result is nil if the file is sound, or if another
  /// process has the store open.
  static func damage(in directory: String) throws -> StoreVerification.Defect? {
    // If the directory has no store, or no readable limit, the later opening reports it.
    guard FileManager.default.fileExists(atPath: directory) else { return nil }
    do {
      return try DiskTier.damage(in: directory)
    } catch {
      throw CommandFailure(error)
    }
  }

  /// Returns the recorded limit of the store in a directory, or nil if the directory has no store.
  private static func recordedLimit(_ directory: String) throws -> ByteCount? {
    guard FileManager.default.fileExists(atPath: directory) else { return nil }
    do {
      return try DiskTier.recordedLimit(in: directory)
    } catch {
      throw CommandFailure(error)
    }
  }

  /// Returns the message for a directory without a recorded limit.
  private static func absence(_ directory: String) -> String {
    switch PathState(directory) {
    case .present where DiskTier.hasDataFile(in: directory):
      "the store in \(directory) has no recorded limit: its file cistern.mark is missing or damaged; "
        + "`cistern put` or `cistern import` with --disk-limit opens the store, and records the limit"
    case .present: "there is no store in \(directory)"
    case .absent: "the directory '\(directory)' does not exist"
    case .danglingLink(let target): "'\(directory)' is a symbolic link to '\(target)', which does not exist"
    case .linkLoop: "'\(directory)' leads to a symbolic link that leads back to itself"
    case .unreadable(let reason): "the directory '\(directory)' cannot be examined: \(reason)"
    }
  }

  /// Returns the names of the store's caches, in order.
  func cacheNames() throws -> [String] {
    do {
      return try tier.partitionNames()
    } catch {
      throw CommandFailure(error)
    }
  }

  /// Opens all caches, and returns them in the order of their names.
  func partitions() throws -> [(name: String, partition: DiskPartition)] {
    let names = try cacheNames()
    do {
      return try names.map { ($0, try tier.diskPartition(named: $0)) }
    } catch {
      throw CommandFailure(error)
    }
  }

  /// The sentences of the help texts that explain which records ``entryCount()`` includes.
  static let countNote = """
    Invalidated records count until they are purged. A program purges them in the background while it has their cache \
    open, and `cistern compact` purges all of them.
    """

  /// Returns the number of entries of all caches. Invalidated records count until they are purged.
  func entryCount() throws -> Int {
    try partitions().reduce(0) { $0 + $1.partition.statistics.entryCount }
  }

  /// Throws if the name is not valid for a cache.
  static func requireCacheName(_ name: String) throws {
    guard Store.cacheNameLengths.contains(name.utf8.count) else {
      throw CommandFailure(
        "a cache's name has between \(Store.cacheNameLengths.lowerBound) and \(Store.cacheNameLengths.upperBound) bytes; "
          + "'\(name)' has \(name.utf8.count)", status: .badInput)
    }
  }

  /// Returns the partition of a cache. Throws if the store does not have the cache, unless `beginning` is true.
  func partition(_ name: String, beginning: Bool = false) throws -> DiskPartition {
    if beginning { try StoreOnDisk.requireCacheName(name) }
    // The tier counts evictions only for open caches.
    let partitions = try partitions()
    // Names that differ only in their Unicode form are equal. The store keeps the bytes of the composed form.
    if let present = partitions.first(where: { $0.name == name }) { return present.partition }
    guard beginning else {
      let names = partitions.map { "'\(KeyText.describe($0.name))'" }
      let known = names.isEmpty ? "none" : names.joined(separator: ", ")
      throw CommandFailure("the store in \(directory) has no cache '\(name)'; its caches: \(known)", status: .negative)
    }
    do {
      return try tier.diskPartition(named: KeyText.composed(name))
    } catch {
      throw CommandFailure(error)
    }
  }

  /// Runs `body`, and closes the store afterwards in all cases. If both fail, throws the error of `body`.
  func use<Result>(_ body: (StoreOnDisk) async throws -> Result) async throws -> Result {
    let result: Result
    do {
      result = try await body(self)
    } catch {
      try? await close()
      throw error is CisternError ? CommandFailure(error) : error
    }
    try await close()
    return result
  }

  /// Prints the number of evicted records on standard error, if it is not zero.
  func printEvictions() {
    let count = tier.statistics.evictions
    guard count > 0 else { return }
    Console.current.printError(
      "\(Formatting.count(count, "older record was", "older records were")) evicted: the store has reached its limit"
    )
  }

  /// Commits the writes, and closes the store. Prints the reports of the store on standard error.
  func close() async throws {
    do {
      try await tier.close()
    } catch {
      throw CommandFailure(error)
    }
    for report in reports.all { Console.current.printError("cistern: \(Reports.message(of: report))") }
  }
}

extension Optional {
  /// Returns the value. Throws a failure of the command with this message if there is no value.
  fileprivate func orFailure(_ message: String) throws -> Wrapped {
    guard let self else { throw CommandFailure(message, status: .badInput) }
    return self
  }
}
