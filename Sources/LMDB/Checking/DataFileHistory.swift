#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// How far a data file has come. Compared with the file's head at the next opening, it shows whether an older state of the
/// file is back.
package struct DataFileHistory: Sendable, Equatable {
  /// The number of the newest commit.
  package let transaction: UInt64
  /// A digest of the state before that commit, which the other meta page still leads to.
  package let previousState: UInt64

  package init(transaction: UInt64, previousState: UInt64) {
    self.transaction = transaction
    self.previousState = previousState
  }
}

/// Both meta pages of a data file, as far as they tell which commit is the newest.
package struct DataFileHead: Sendable, Equatable {
  private struct Commit: Sendable, Equatable {
    let transaction: UInt64
    /// A digest of all that the meta page says, without the transaction's number.
    let state: UInt64
  }

  private let newest: Commit
  private let older: Commit

  /// Reads the head of the file at `path`. Nil if the file is missing, shorter than its meta pages, or not LMDB's.
  package init?(of path: String) {
    guard let descriptor = DataFileReader.openFile(path) else { return nil }
    defer { close(descriptor) }
    self.init(descriptor)
  }

  /// Reads the head of an open file.
  init?(_ descriptor: Int32) {
    guard let first = DataFileHead.read(descriptor, at: 0),
      let page = try? MetaPage(first.checkedBytes, number: 0),
      let second = DataFileHead.read(descriptor, at: page.pageSize),
      (try? MetaPage(second.checkedBytes, number: 1)) != nil
    else { return nil }
    let commits = (DataFileHead.commit(first), DataFileHead.commit(second))
    (newest, older) = commits.1.transaction > commits.0.transaction ? (commits.1, commits.0) : commits
  }

  /// The number of the newest commit.
  package var transaction: UInt64 { newest.transaction }

  package var history: DataFileHistory {
    DataFileHistory(transaction: newest.transaction, previousState: older.state)
  }

  /// Whether the file leads to an older state than the one that was noted.
  ///
  /// Commits may follow a note. A commit never has the state of the last but one before it, because LMDB does not use that
  /// state's pages again so soon. If the newest state is that one, its meta page was given a greater number.
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
    // FNV-1a, over both trees and the last page.
    var state: UInt64 = 0xcbf2_9ce4_8422_2325
    for byte in page[MetaPage.treesPlace..<MetaPage.transactionPlace] {
      state = (state ^ UInt64(byte)) &* 0x100_0000_01b3
    }
    return Commit(transaction: page.checkedBytes.number(at: MetaPage.transactionPlace, as: UInt64.self), state: state)
  }
}

extension Environment {
  /// How far the data file has come; nil if its head cannot be read.
  package func history() throws(LMDBError) -> DataFileHistory? {
    try withDataFile("read the data file's head") { (descriptor) throws(LMDBError) in
      DataFileHead(descriptor)?.history
    }
  }
}
