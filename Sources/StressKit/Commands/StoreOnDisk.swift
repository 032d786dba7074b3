import Cistern
import Foundation
import Locking

/// A store that a command reads or changes: opened with the limit that it was made with, or not at all.
///
/// A program that opens a store sets aside a data file that it cannot use, and begins an empty one. A command does not: it
/// fails, and leaves the files as they are.
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

    /// A report as a message of a command.
    static func message(of report: StoreReport) -> String {
      let head = "\(report.message) (\(report.location))"
      return report.cause.map { "\(head): \($0)" } ?? head
    }
  }

  /// Opens an existing store to read. Throws where there is none, or where its file cannot be read.
  init(reading directory: String) throws {
    let limit = try StoreOnDisk.recordedLimit(directory)
    try self.init(directory, limit: try limit.orFailure(StoreOnDisk.absence(directory)), isReadOnly: true)
  }

  /// Opens an existing store to write.
  init(writing directory: String) throws {
    let limit = try StoreOnDisk.recordedLimit(directory)
    try self.init(directory, limit: try limit.orFailure(StoreOnDisk.absence(directory)), isReadOnly: false)
  }

  /// Opens a store to write, or makes one with this limit in a directory without a store. Throws if the store has another
  /// limit, or cannot hold `record`; then the directory stays as it is.
  init(writing directory: String, orMakingWith limit: ByteCount?, toHold record: RecordSize? = nil) throws {
    let recorded = try StoreOnDisk.recordedLimit(directory)
    if let recorded, let limit, recorded != limit {
      throw CommandFailure(
        "the store in \(directory) has a limit of \(recorded.bytes) bytes, not \(limit.bytes): "
          + "leave out --disk-limit, which is for a store that is not there yet", status: .badInput)
    }
    let absence = StoreOnDisk.absence(directory) + "; --disk-limit makes one"
    let present = try (recorded ?? limit).orFailure(absence)
    try record?.check(limit: present, in: directory)
    try self.init(directory, limit: present, isReadOnly: false)
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
    // A file that is older than the store left it, a backup for example, is read; closing prints the report.
    if isReadOnly, let report = reports.all.first(where: { $0.code != .rolledBack }) {
      throw CommandFailure(Reports.message(of: report), status: .badInput)
    }
  }

  /// Throws if an opening to write would set the data file aside.
  private static func requireUsableFile(in directory: String, limit: ByteCount) throws {
    let reports = Reports()
    // An opening to read changes nothing, and reports the same. If it fails, so does the opening to write, which says why.
    let tier = try? DiskTier(directory: directory, limit: limit, isReadOnly: true) { reports.add($0) }
    // The tier closes when it is released, which is before this function returns.
    withExtendedLifetime(tier) {}
    if let report = reports.all.first(where: { $0.code == .setAside }) {
      throw CommandFailure(
        "\(Reports.message(of: report)); nothing was changed. The next program that opens the store sets the file aside, and begins an empty one",
        status: .badInput)
    }
  }

  /// Throws if the directory has no store.
  static func requireStore(in directory: String) throws {
    _ = try recordedLimit(directory).orFailure(absence(directory))
  }

  /// The damage to the structure of the store's data file; nil for a sound file, and for one that another process has open.
  static func damage(in directory: String) throws -> DiskFinding? {
    // Whether there is a store at all, and a mark that can be read, is for the opening to say.
    guard FileManager.default.fileExists(atPath: directory) else { return nil }
    do {
      return try DiskTier.damage(in: directory)
    } catch {
      throw CommandFailure(error)
    }
  }

  /// The limit of the store in a directory; nil where there is none.
  private static func recordedLimit(_ directory: String) throws -> ByteCount? {
    guard FileManager.default.fileExists(atPath: directory) else { return nil }
    do {
      return try DiskTier.recordedLimit(in: directory)
    } catch {
      throw CommandFailure(error)
    }
  }

  private static func absence(_ directory: String) -> String {
    FileManager.default.fileExists(atPath: directory)
      ? "there is no store in \(directory)" : "the directory '\(directory)' does not exist"
  }

  /// The names of the store's caches, in order.
  func cacheNames() throws -> [String] {
    do {
      return try tier.partitionNames()
    } catch {
      throw CommandFailure(error)
    }
  }

  /// Throws if no program could open a cache of this name.
  static func requireCacheName(_ name: String) throws {
    guard Store.cacheNameLengths.contains(name.utf8.count) else {
      throw CommandFailure(
        "a cache's name has between \(Store.cacheNameLengths.lowerBound) and \(Store.cacheNameLengths.upperBound) bytes; "
          + "'\(name)' has \(name.utf8.count)", status: .badInput)
    }
  }

  /// The records of a cache. Throws if the store has no cache of this name, except with `beginning`.
  func partition(_ name: String, beginning: Bool = false) throws -> any SecondTierPartition {
    if beginning { try StoreOnDisk.requireCacheName(name) }
    let names = try cacheNames()
    // A name is the same in each of its Unicode forms; the store knows it by the bytes of one, the composed form.
    let present = names.first { $0 == name }
    guard present != nil || beginning else {
      let known = names.isEmpty ? "none" : names.map { "'\($0)'" }.joined(separator: ", ")
      throw CommandFailure("the store in \(directory) has no cache '\(name)'; it has \(known)", status: .negative)
    }
    do {
      // The tier counts the evictions of caches that are open.
      for name in names { _ = try tier.partition(named: name) { _ in } }
      return try tier.partition(named: present ?? KeyText.composed(name)) { _ in }
    } catch {
      throw CommandFailure(error)
    }
  }

  /// Runs `body`, and closes the store however it ends. If both fail, throws the error of `body`.
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

  /// Prints on standard error how many records were evicted, if any were.
  func printEvictions() {
    let count = tier.statistics.evictions
    guard count > 0 else { return }
    Console.current.printError(
      "\(Formatting.count(count)) older \(count == 1 ? "record was" : "records were") evicted: the store has reached its limit"
    )
  }

  /// Commits the writes, and closes the store. Prints the store's reports on standard error.
  func close() async throws {
    do {
      try await tier.close()
    } catch {
      throw CommandFailure(error)
    }
    for report in reports.all { Console.current.printError("cistern: \(Reports.message(of: report))") }
  }
}

extension SecondTierPartition {
  /// The record of a key, copied; nil where there is none.
  func record(forKey key: [UInt8]) -> (metadata: RecordMetadata, bytes: [UInt8])? {
    withRecord(forKey: key.rawSpan) { metadata, bytes in (metadata, bytes.copiedBytes()) }
  }
}

extension Optional {
  /// The value; where there is none, the command fails with this message.
  fileprivate func orFailure(_ message: String) throws -> Wrapped {
    guard let self else { throw CommandFailure(message, status: .badInput) }
    return self
  }
}
