import CisternTestSupport
import Foundation
import LMDB
import Testing

@testable import CisternCore
@testable import CisternDisk

// Damage to the order of the records of an open file.

extension TemporaryDirectory {
  /// Replaces bytes wherever the data file has them.
  func replaceInDataFile(_ old: [UInt8], with new: [UInt8]) throws {
    var data = try Data(contentsOf: dataFile)
    let file = try FileHandle(forUpdating: dataFile)
    var count = 0
    while let place = data.range(of: Data(old)) {
      try file.seek(toOffset: UInt64(place.lowerBound))
      try file.write(contentsOf: Data(new))
      data.replaceSubrange(place, with: Data(new))
      count += 1
    }
    try file.close()
    #expect(count > 0)
  }
}

extension DiskTier {
  /// The item of a key in the index, as a dense file has it.
  func indexItem(ofKey key: String) throws -> [UInt8] {
    let file = try #require(engine.file)
    guard case .dense(let tables) = file.layout else { throw CocoaError(.featureUnsupported) }
    let address = try file.environment.withRead { (transaction) throws(LMDBError) in
      var isDamaged = false
      return try tables.record(
        forKey: bytes(key).rawSpan, of: .first, in: transaction, isDamaged: &isDamaged)?.address.bits
    }
    let bits = try #require(address)
    return RecordDigest(of: bytes(key).rawSpan).bytes
      + (0..<6).map { UInt8(truncatingIfNeeded: bits >> UInt64(8 * (5 - $0))) }
  }
}
