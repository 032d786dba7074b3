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
    try self.init(directory, limit: nil, isReadOnly: true)
  }

  /// Opens a store to write; with `limit`, also one that is not there yet.
  init(writing directory: String, limit: ByteCount? = nil) throws {
    try self.init(directory, limit: limit, isReadOnly: false)
  }

  private init(_ directory: String, limit: ByteCount?, isReadOnly: Bool) throws {
    self.directory = directory
    let reports = Reports()
    self.reports = reports
    do {
      let recorded = try StoreOnDisk.recordedLimit(directory, mayBeAbsent: limit != nil)
      guard let limit = recorded ?? limit else {
        throw CommandFailure("there is no store in \(directory)", status: .badInput)
      }
      tier = try DiskTier(directory: directory, limit: limit, isReadOnly: isReadOnly) { report in
        reports.messages.withLock { $0.append("\(report.message) (\(report.location))") }
      }
    } catch let error as CisternError {
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

  private static func recordedLimit(_ directory: String, mayBeAbsent: Bool) throws -> ByteCount? {
    guard FileManager.default.fileExists(atPath: directory) else {
      if mayBeAbsent { return nil }
      throw CommandFailure("\(directory) does not exist", status: .badInput)
    }
    return try DiskTier.recordedLimit(in: directory)
  }

  /// The records of a cache. Throws where the store has no cache of this name, unless it is to be begun.
  func partition(_ name: String, beginning: Bool = false) throws -> any SecondTierPartition {
    do {
      if !beginning {
        let names = try tier.partitionNames()
        guard names.contains(name) else {
          let known = names.isEmpty ? "it has none" : "it has \(names.joined(separator: ", "))"
          throw CommandFailure("the store in \(directory) has no cache '\(name)'; \(known)", status: .negative)
        }
      }
      return try tier.partition(named: name) { _ in }
    } catch let error as CisternError {
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
    withRecord(forKey: key.rawSpan) { metadata, bytes in (metadata, bytes.copiedBytes) }
  }
}

extension RawSpan {
  /// The bytes, copied.
  var copiedBytes: [UInt8] {
    // Copied before the view ends.
    unsafe withUnsafeBytes { unsafe [UInt8]($0) }
  }
}
