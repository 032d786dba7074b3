import CLMDB

/// The limits and the current size of an environment.
package struct EnvironmentInformation: Sendable, Equatable {
  /// The size of the map in bytes, which limits the size of the file.
  package let mapSize: Int
  /// The size of a page in bytes.
  package let pageSize: Int
  /// The number of pages in the file, including free ones. It never decreases.
  package let pageCount: Int
  /// The transaction number of the last commit.
  package let lastTransaction: UInt
  /// The number of reader slots for all processes together.
  package let maximumReaders: Int
  /// The highest number of reader slots that were in use at once.
  package let readerCount: Int
  /// The length of the file in bytes.
  package let fileSize: Int

  init(_ information: MDB_envinfo, _ statistics: MDB_stat, fileSize: Int) {
    mapSize = unsafe information.me_mapsize
    pageSize = Int(statistics.ms_psize)
    pageCount = unsafe information.me_last_pgno &+ 1
    lastTransaction = unsafe UInt(information.me_last_txnid)
    maximumReaders = unsafe Int(information.me_maxreaders)
    readerCount = unsafe Int(information.me_numreaders)
    self.fileSize = fileSize
  }
}
