#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The newest and the older commit, according to the two meta pages of a data file.
package struct DataFileHead: Sendable, Equatable {
  private struct Commit: Sendable, Equatable {
    let transaction: UInt64
    /// A digest of the meta page without the transaction number.
    let state: UInt64
  }

  private let newest: Commit
  private let older: Commit

  /// Reads the head of the file at the path. Returns nil if the file is missing, is shorter than its meta pages, or
  /// is not an LMDB file.
  package init?(of path: String) {
    guard let descriptor = try? DataFileReader.openFile(path) else { return nil }
    defer { close(descriptor) }
    self.init(descriptor)
  }

  /// Reads the head of an open file. Returns nil like `init(of:)`.
  init?(_ descriptor: Int32) {
    guard let first = DataFileHead.read(descriptor, at: 0),
      let page = try? MetaPage(first.checkedBytes, number: 0),
      let second = DataFileHead.read(descriptor, at: page.pageSize),
      (try? MetaPage(second.checkedBytes, number: 1)) != nil
    else { return nil }
    let commits = (DataFileHead.commit(first), DataFileHead.commit(second))
    (newest, older) = commits.1.transaction > commits.0.transaction ? (commits.1, commits.0) : commits
  }

  /// The transaction number of the newest commit.
  package var transaction: UInt64 { newest.transaction }

  package var history: DataFileHistory {
    DataFileHistory(transaction: newest.transaction, previousState: older.state)
  }

  /// Returns whether the file has an older state than the noted one.
  ///
  /// The file may have newer commits than the note. A commit never has the same state as the last but one before it,
  /// because LMDB does not reuse that state's pages so soon. If the newest state equals the previous state of the
  /// note, the old meta page was given a greater transaction number.
  package func isOlder(than noted: DataFileHistory) -> Bool {
    if newest.transaction < noted.transaction { return true }
    return newest.transaction > noted.transaction && older.transaction == noted.transaction
      && newest.state == noted.previousState
  }

  private static func read(_ descriptor: Int32, at offset: Int) -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: MetaPage.size)
    let count = unsafe bytes.withUnsafeMutableBytes {
      unsafe pread(descriptor, $0.baseAddress, $0.count, off_t(offset))
    }
    return count == bytes.count ? bytes : nil
  }

  private static func commit(_ page: [UInt8]) -> Commit {
    // FNV-1a over both trees and the last page number.
    var state: UInt64 = 0xcbf2_9ce4_8422_2325
    for byte in page[MetaPage.treesPlace..<MetaPage.transactionPlace] {
      state = (state ^ UInt64(byte)) &* 0x100_0000_01b3
    }
    return Commit(transaction: page.checkedBytes.number(at: MetaPage.transactionPlace, as: UInt64.self), state: state)
  }
}
