import Cistern
import Foundation
import Locking

/// A store that a command looks into or changes: opened with the limit that it was made with, or not at all.
struct StoreOnDisk: Sendable {
  let directory: String
  let tier: DiskTier
  private let reports: Reports

  private final class Reports: Sendable {
    let messages = Guarded<[String]>([])
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

  /// Opens a store to write, or makes one with this limit where there is none. Throws where there is one with another.
  init(writing directory: String, orMakingWith limit: ByteCount?) throws {
    let recorded = try StoreOnDisk.recordedLimit(directory)
    if let recorded, let limit, recorded != limit {
      throw CommandFailure(
        "the store in \(directory) has a limit of \(recorded.bytes) bytes, not \(limit.bytes): "
          + "leave out --disk-limit, which is for a store that is not there yet", status: .badInput)
    }
    let absence = StoreOnDisk.absence(directory) + "; --disk-limit makes one"
    try self.init(directory, limit: try (recorded ?? limit).orFailure(absence), isReadOnly: false)
  }

  private init(_ directory: String, limit: ByteCount, isReadOnly: Bool) throws {
    self.directory = directory
    let reports = Reports()
    self.reports = reports
    do {
      tier = try DiskTier(directory: directory, limit: limit, isReadOnly: isReadOnly) { report in
        reports.messages.withLock { $0.append("\(report.message) (\(report.location))") }
      }
    } catch {
      throw CommandFailure("\(error)", status: .badInput)
    }
    if isReadOnly, let message = reports.messages.withLock({ $0.first }) {
      throw CommandFailure(message, status: .badInput)
    }
  }

  /// What is wrong with the structure of the store's data file; nil where nothing is, or somebody has it open.
  static func damage(in directory: String) throws -> DiskFinding? {
    // Whether there is a store at all, and a mark that can be read, is for the opening to say.
    guard FileManager.default.fileExists(atPath: directory) else { return nil }
    do {
      return try DiskTier.damage(in: directory)
    } catch {
      throw CommandFailure("\(error)", status: .badInput)
    }
  }

  /// The limit of the store in a directory; nil where there is none.
  private static func recordedLimit(_ directory: String) throws -> ByteCount? {
    guard FileManager.default.fileExists(atPath: directory) else { return nil }
    do {
      return try DiskTier.recordedLimit(in: directory)
    } catch {
      throw CommandFailure("\(error)", status: .badInput)
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
      throw CommandFailure("\(error)", status: .badInput)
    }
  }

  /// The records of a cache. Throws where the store has no cache of this name, unless it is to be begun.
  func partition(_ name: String, beginning: Bool = false) throws -> any SecondTierPartition {
    if beginning {
      guard Store.cacheNameLengths.contains(name.utf8.count) else {
        throw CommandFailure(
          "a cache's name has between \(Store.cacheNameLengths.lowerBound) and \(Store.cacheNameLengths.upperBound) bytes; "
            + "'\(name)' has \(name.utf8.count)", status: .badInput)
      }
    } else {
      let names = try cacheNames()
      guard names.contains(name) else {
        let known = names.isEmpty ? "none" : names.map { "'\($0)'" }.joined(separator: ", ")
        throw CommandFailure("the store in \(directory) has no cache '\(name)'; it has \(known)", status: .negative)
      }
    }
    do {
      return try tier.partition(named: name) { _ in }
    } catch {
      throw CommandFailure("\(error)", status: .badInput)
    }
  }

  /// Commits what was written, and closes the store; says on standard error what was met on the way.
  func close() async throws {
    do {
      try await tier.close()
    } catch {
      throw CommandFailure("\(error)", status: .badInput)
    }
    for message in reports.messages.withLock({ $0 }) { Console.current.printError("cistern: \(message)") }
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
