import CLMDB
import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The places of values of one size that stay where they are, for reads without a lookup. See ``PlaceTable``.
///
/// Like the handle of a database, it is valid only with its environment. It is trivial to copy, because each read of a
/// record does so.
@safe
package struct ValuePlaces: Sendable {
  /// The number of bytes of a value. Others are looked up.
  package let byteCount: Int
  let database: IntegerDatabase
  // The environment retains the table, and outlives its transactions.
  private let table: Unmanaged<PlaceTable>

  fileprivate init(_ table: PlaceTable) {
    byteCount = table.byteCount
    database = table.database
    unsafe self.table = Unmanaged.passUnretained(table)
  }

  /// Returns the first page of the key's value, or zero if the table does not have it or is of another environment.
  @inline(__always)
  fileprivate func page(of key: UInt, in environment: Unmanaged<Environment>) -> UInt64 {
    unsafe table._withUnsafeGuaranteedRef { table in
      unsafe table.environment == environment.toOpaque() ? table.page(of: key) : 0
    }
  }

  fileprivate func note(_ page: UInt64, of key: UInt, in environment: Unmanaged<Environment>) {
    unsafe table._withUnsafeGuaranteedRef { table in
      if unsafe table.environment == environment.toOpaque() { table.note(page, of: key) }
    }
  }
}

/// The first pages of the values of a database, by their keys.
///
/// A value may be removed, but its key must then never be used again. Each key has one slot, which it shares with
/// others. A key without its slot is looked up.
@safe
final class PlaceTable: Sendable {
  /// A key and the first page of its value. The word of an empty slot is zero: no value begins at the first page.
  private typealias Slot = Atomic<UInt64>

  /// The number of bits of a page number in a slot.
  private static let pageBits: UInt64 = 35
  /// The number of keys that can have a slot. Greater keys are looked up.
  static let keyLimit: UInt = 1 << 29

  let byteCount: Int
  let database: IntegerDatabase
  /// The address of the environment, for comparisons only.
  fileprivate nonisolated(unsafe) let environment: UnsafeMutableRawPointer
  // Allocated once and unmapped by `deinit`. Every access is atomic. Without memory, all values are looked up.
  private nonisolated(unsafe) let slots: UnsafeMutablePointer<Slot>?
  private let mask: UInt

  fileprivate init(of database: IntegerDatabase, _ environment: Environment, byteCount: Int, capacity: Int) {
    self.database = database
    self.byteCount = byteCount
    unsafe self.environment = unsafe Unmanaged.passUnretained(environment).toOpaque()
    var count = 64
    while count < min(capacity, 1 << 20) { count *= 2 }
    mask = UInt(count - 1)
    // Zero bytes are a valid `Atomic(0)`, and an `Atomic` needs no deinitialization.
    let size = count * MemoryLayout<Slot>.stride
    let memory = unsafe mmap(nil, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
    unsafe slots = unsafe memory == MAP_FAILED ? nil : unsafe memory?.bindMemory(to: Slot.self, capacity: count)
  }

  deinit {
    if let slots = unsafe slots { unsafe munmap(slots, Int(mask + 1) * MemoryLayout<Slot>.stride) }
  }

  /// Returns the first page of the key's value, or zero if the table does not have it.
  @inline(__always)
  fileprivate func page(of key: UInt) -> UInt64 {
    guard let slots = unsafe slots else { return 0 }
    // The mask keeps the index in bounds.
    let slot = unsafe slots[Int(bitPattern: key & mask)].load(ordering: .relaxed)
    return slot &>> Self.pageBits == UInt64(key) ? slot & (1 &<< Self.pageBits &- 1) : 0
  }

  fileprivate func note(_ page: UInt64, of key: UInt) {
    guard let slots = unsafe slots, key < Self.keyLimit, page < 1 << Self.pageBits else { return }
    // The mask keeps the index in bounds. The page never changes, so a reader needs no order.
    unsafe slots[Int(bitPattern: key & mask)].store(UInt64(key) << Self.pageBits | page, ordering: .relaxed)
  }
}

extension Environment {
  /// Returns the places of the values of a database. Each call with the same database and size returns the same places.
  ///
  /// - Parameters:
  ///   - database: The database. No value of this size may ever move, and no key may be used again.
  ///   - byteCount: The size of the values. Other values of the database can do as they like.
  ///   - capacity: The number of values to expect. The table has at most 2²⁰ slots.
  /// - Returns: The places.
  package func places(of database: IntegerDatabase, byteCount: Int, capacity: Int) -> ValuePlaces {
    placeTables.withLock { tables in
      if let known = tables.first(where: { $0.database == database && $0.byteCount == byteCount }) {
        return ValuePlaces(known)
      }
      let table = PlaceTable(of: database, self, byteCount: byteCount, capacity: capacity)
      tables.append(table)
      return ValuePlaces(table)
    }
  }
}

extension ReadTransaction {
  /// Returns the bytes of the key's value from an offset to its end, or nil if the key is absent or the value shorter.
  /// O(1) for most keys.
  ///
  /// If the value was removed since the table learned its place, the bytes are arbitrary ones of the file. The bytes
  /// are those that were written last, even if that was after the snapshot.
  @_lifetime(borrow self)
  package borrowing func bytes(
    ofValueForKey key: UInt, from offset: Int, at places: ValuePlaces
  ) throws(LMDBError) -> RawSpan? {
    let page = unsafe places.page(of: key, in: environment)
    guard page > 0, offset >= 0, offset <= places.byteCount,
      let pages = unsafe environment._withUnsafeGuaranteedRef({ unsafe $0.map.pages })
    else { return try bytesByLMDB(ofValueForKey: key, from: offset, at: places) }
    // In bounds: the file contained the value's pages when the place was learned, and it never becomes shorter.
    let start = unsafe pages.page(page) + (TreePage.headerSize + offset)
    let span = unsafe RawSpan(_unsafeStart: start, byteCount: places.byteCount - offset)
    return unsafe _overrideLifetime(span, borrowing: self)
  }

  /// Looks up the value with LMDB, and learns its place.
  @inline(never)
  @_lifetime(borrow self)
  private borrowing func bytesByLMDB(
    ofValueForKey key: UInt, from offset: Int, at places: ValuePlaces
  ) throws(LMDBError) -> RawSpan? {
    guard let value = try value(forKey: key, in: places.database), offset >= 0, offset <= value.byteCount else {
      return nil
    }
    // A shorter value can be the last one of the file, so nothing may be read behind it.
    if value.byteCount == places.byteCount, let place = try place(ofValueForKey: key, in: places.database) {
      unsafe places.note(place.page, of: key, in: environment)
    }
    return value.extracting(offset..<value.byteCount)
  }
}
