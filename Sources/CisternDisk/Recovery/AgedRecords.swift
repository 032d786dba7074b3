import CisternCore
import LMDB

/// The records of a dense file that readers see, from the oldest to the newest.
///
/// - Complexity: O(*n* log *n*) for *n* records. Each needs about 40 bytes of memory.
struct AgedRecords {
  struct Entry {
    let address: RecordAddress
    let generation: Generation
    let age: ExtentAge
    /// The number of bytes of the record.
    let size: Int
  }

  private(set) var entries: [Entry] = []
  /// The number of older records, which do not fit.
  private(set) var omittedCount = 0

  /// Lists the newest records of the file that together take no more than `bytes` in the new file.
  ///
  /// - Parameters:
  ///   - file: The file.
  ///   - tables: Its tables.
  ///   - bytes: The limit on the bytes of all records.
  ///   - layout: The layout of the new file's extents.
  ///   - largestRecord: The limit on the size of a record with its key.
  /// - Throws: `LMDBError` if the file cannot be read.
  init(
    of file: DiskFile, _ tables: DenseTables, bytes: Int, in layout: ExtentLayout, largestRecord: Int
  ) throws(LMDBError) {
    let names = try file.partitionNames()
    entries = try file.environment.withRead { (transaction) throws(LMDBError) in
      let generations = try LiveGenerations(named: names, in: transaction, of: file)
      let state = try ExtentState(reading: transaction, tables)
      var entries: [Entry] = []
      for generation in generations.all {
        var cursor = try transaction.cursor(forKey: IndexKey(generation.number), in: tables.index)
        var isAtItem = try cursor.moveToFirst()
        while isAtItem, let item = cursor.item, let address = RecordAddress(bits: item.address) {
          if let age = AgedRecords.age(of: address, state, tables),
            let record = try tables.bytes(at: address, in: transaction),
            let header = PackedHeader(trusting: record, at: address),
            header.size <= largestRecord, generations.shows(record, header, of: generation)
          {
            entries.append(Entry(address: address, generation: generation, age: age, size: header.size))
          }
          isAtItem = try cursor.moveToNext()
        }
      }
      return entries
    }
    entries.sort { ($0.age, $0.address) < ($1.age, $1.address) }
    var rest = bytes
    let largestInExtent = layout.largestRecord
    let first = entries.lastIndex { entry in
      // A separate record takes whole pages.
      let unit = entry.size > largestInExtent ? DiskLimits.pageSize : RecordAddress.unit
      rest -= (entry.size + (entry.size > largestInExtent ? ExtentLayout.headerSize : 0) + unit - 1) / unit * unit
      return rest < 0
    }
    omittedCount = first.map { $0 + 1 } ?? 0
    entries.removeFirst(omittedCount)
  }

  /// Returns the age of the extent or of the separate record at an address. Nil if the file does not have it.
  private static func age(of address: RecordAddress, _ state: ExtentState, _ tables: DenseTables) -> ExtentAge? {
    switch address.location(in: tables.limits.layout) {
    case .inExtent(let number, _)?: state.log[number]?.age
    case .separate(let number)?: state.separates.records[SeparateNumber(number: number)]?.age
    case nil: nil
    }
  }
}
