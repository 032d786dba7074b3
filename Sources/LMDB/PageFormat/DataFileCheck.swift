import Locking

/// Checks whether a data file is safe to open. LMDB trusts mapped pages, so a wrong page number, offset or size can
/// crash the process or cause an endless loop.
///
/// The check supports files of LMDB 0.9 on 64-bit little-endian machines. It covers all structures that LMDB relies
/// on:
///
/// - both meta pages, the free list, the unnamed database and all named databases,
/// - the number, the kind and the nodes of each page,
/// - the keys and their order, and the overflow pages of large values,
/// - the items of an index, in leaves, in pages within leaves, and in separate trees,
/// - that no page is used twice, and that the totals are correct.
///
/// It does not check the bytes of keys and values, nor the addresses of items. It reads each page once, except for the
/// inner pages of large values, and writes nothing. It uses one bit of memory for each page that it meets, and one page
/// for each level of a tree.
package struct DataFileCheck: ~Copyable {
  var reader: DataFileReader
  var pagesMet: PagesMet
  var tiling: PageTiling
  let newest: MetaPage

  /// Checks the file at the path, which no process may change during the check.
  ///
  /// - Returns: The number of reads, or the first damage. The number is zero if the file is missing or empty.
  /// - Throws: `SystemError` if the file cannot be opened now, for example because no descriptor is left. It may be
  ///   sound.
  package static func run(_ path: String) throws(SystemError) -> Result<Int, DataFileDamage> {
    guard let descriptor = try DataFileReader.openFile(path) else { return .success(0) }
    do throws(DataFileDamage) {
      return .success(try check(DataFileReader(descriptor)))
    } catch {
      return .failure(error)
    }
  }

  private static func check(_ reader: consuming DataFileReader) throws(DataFileDamage) -> Int {
    var reader = reader
    if reader.size == 0 { return 0 }
    let newest = try MetaPage.newest(&reader)
    var check = DataFileCheck(reader, newest)
    try check.checkFreeList()
    try check.checkTables()
    try check.pagesMet.requireWholeFile()
    return check.reader.pagesRead
  }

  private init(_ reader: consuming DataFileReader, _ newest: MetaPage) {
    self.newest = newest
    pagesMet = PagesMet(lastPage: newest.lastPage, pagesInFile: UInt64(reader.size / reader.pageSize))
    tiling = PageTiling(pageSize: reader.pageSize)
    self.reader = reader
  }

  private mutating func checkFreeList() throws(DataFileDamage) {
    let tree = newest.freeList
    guard tree.flags == TreeRecord.integerKeys else {
      throw DataFileDamage("the list of free pages has the invalid flags \(tree.flags)")
    }
    try checkTree(tree, .freeList)
  }

  private mutating func checkTables() throws(DataFileDamage) {
    let tree = newest.main
    guard tree.flags == 0 else { throw DataFileDamage("the main table has the invalid flags \(tree.flags)") }
    try checkTree(tree, .main)
  }
}
