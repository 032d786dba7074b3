@testable import CisternDisk
@testable import LMDB

/// The live bytes of the closed extents of a dense file, as its rows state them, and as a recount of the index finds
/// them.
struct LiveBytes {
  private(set) var stated: [ExtentNumber: Int] = [:]
  private(set) var counted: [ExtentNumber: Int] = [:]

  var areExact: Bool { stated == counted }

  init(of file: DiskFile) throws {
    guard case .dense(let tables) = file.layout else { preconditionFailure("the file has no extents") }
    (stated, counted) = try file.environment.withRead { (transaction) throws(LMDBError) in
      let state = try ExtentState(reading: transaction, tables)
      var stated: [ExtentNumber: Int] = [:]
      for (number, extent) in state.log.all where extent.isClosed { stated[number] = extent.liveBytes }
      var counted = stated.mapValues { _ in 0 }
      for generation in state.partitionNumbers.named {
        var cursor = try transaction.cursor(forKey: IndexKey(generation.number), in: tables.index)
        var isAtItem = try cursor.moveToFirst()
        while isAtItem, let item = cursor.item, let address = RecordAddress(bits: item.address) {
          if case .inExtent(let number, _)? = address.location(in: tables.limits.layout),
            let record = try tables.bytes(at: address, in: transaction),
            let header = PackedHeader(trusting: record, at: address)
          {
            counted[number]? += ExtentLayout.room(for: header.size)
          }
          isAtItem = try cursor.moveToNext()
        }
      }
      return (stated, counted)
    }
  }
}
