import CLMDB
import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Where the pages of an environment's map are, for look-ups that go through them without LMDB.
///
/// A snapshot's pages do not change while it is open, and the map does not move, since nobody sets its size anew.
@usableFromInline
package final class PageMap: Sendable {
  /// What the pages say of a key.
  @unsafe
  @usableFromInline
  enum Answer {
    /// Its value, as long as the snapshot is open.
    case value(UnsafeRawBufferPointer)
    case absent
    /// LMDB is to be asked.
    case unknown
  }

  /// The address of the first page, and in the bits that are zero in it the logarithm of a page's size. Less where there
  /// is none.
  private let place = Atomic<UInt>(PageMap.unlearned)

  private static let unlearned: UInt = 0
  private static let unusable: UInt = 1

  init() {}

  /// Whether look-ups go through the pages.
  package var isKnown: Bool { place.load(ordering: .relaxed) > PageMap.unusable }

  /// Looks the key up in the table without a name, in the snapshot of that number, which the caller keeps open.
  @usableFromInline
  func look(for key: UnsafeRawBufferPointer, snapshot: UInt) -> Answer {
    let place = place.load(ordering: .acquiring)
    guard place > PageMap.unusable else { return unsafe .unknown }
    // The address was found to be that of the first page.
    let pages = unsafe MappedPages(start: UnsafeRawPointer(bitPattern: place & ~0xFFF)!, shift: UInt64(place & 0xFFF))
    return unsafe pages.look(for: key, snapshot: UInt64(snapshot))
  }

  /// Learns where the map is, from a value that LMDB found in it; once.
  @usableFromInline
  func learn(from value: RawSpan, of environment: OpaquePointer) {
    guard place.load(ordering: .relaxed) == PageMap.unlearned, !value.isEmpty else { return }
    place.store(unsafe PageMap.place(around: value, environment) ?? PageMap.unusable, ordering: .releasing)
  }

  private static func place(around value: RawSpan, _ environment: OpaquePointer) -> UInt? {
    var statistics = MDB_stat()
    guard MemoryLayout<UInt>.size == 8, UInt(1).littleEndian == 1,
      unsafe mdb_env_stat(environment, &statistics) == MDB_SUCCESS,
      // Else a page need not begin where one of the system's does.
      Int(statistics.ms_psize) == Int(sysconf(Int32(_SC_PAGESIZE)))
    else { return nil }
    let size = UInt(statistics.ms_psize)
    let page = unsafe value.withUnsafeBytes { UInt(bitPattern: $0.baseAddress!) } & ~(size - 1)
    // In bounds: a value lies in its leaf's page, or begins in the first of its own; both begin with their number.
    let number = unsafe UnsafePointer<UInt>(bitPattern: page)!.pointee
    let (distance, isTooFar) = number.multipliedReportingOverflow(by: size)
    guard !isTooFar, distance < page, let start = unsafe UnsafeMutableRawPointer(bitPattern: page - distance),
      // Fails where there is no memory, as where the number is damaged.
      unsafe msync(start, Int(size), MS_ASYNC) == 0
    else { return nil }
    // A whole page is there. What its first bytes say is the file's format, too.
    let head = unsafe RawSpan(_unsafeStart: start, byteCount: Int(size))
    guard let meta = try? MetaPage(head, number: 0), meta.pageSize == Int(size) else { return nil }
    return UInt(bitPattern: start) | UInt(size.trailingZeroBitCount)
  }
}

extension ReadTransaction {
  /// As `value(forKey:in:)`, in the table without a name, and in fewer steps than LMDB's.
  @inlinable
  @_lifetime(borrow self)
  package borrowing func mainValue(forKey key: borrowing some KeyBytes & ~Copyable) throws(LMDBError) -> RawSpan? {
    // The transaction keeps its environment and its snapshot open.
    let answer = unsafe environment._withUnsafeGuaranteedRef { environment in
      unsafe key.withBytes { bytes in
        unsafe bytes.withUnsafeBytes { unsafe environment.map.look(for: $0, snapshot: number) }
      }
    }
    switch unsafe answer {
    case .value(let bytes):
      let span = unsafe RawSpan(_unsafeBytes: bytes)
      return unsafe _overrideLifetime(span, borrowing: self)
    case .absent: return nil
    case .unknown: return try mainValueByLMDB(forKey: key)
    }
  }

  /// As `mainValue`, where the pages cannot tell.
  @inlinable
  @inline(never)
  @_lifetime(borrow self)
  borrowing func mainValueByLMDB(forKey key: borrowing some KeyBytes & ~Copyable) throws(LMDBError) -> RawSpan? {
    guard let value = try value(forKey: key, in: Database(index: 1)) else { return nil }
    unsafe environment._withUnsafeGuaranteedRef { unsafe $0.map.learn(from: value, of: $0.handle) }
    return value
  }
}
