/// Looks whether a data file can be given to LMDB, which trusts what it maps: a page number, an offset or a size that is
/// not so ends the process, or lets it run for ever.
///
/// Everything that LMDB goes by is checked, for files of LMDB 0.9 on 64-bit little-endian machines: both meta pages, the
/// list of free pages, the table without a name and all that it names; each page's number, kind and nodes; keys and their
/// order; values with pages of their own; that each page has one use; the counts. What is in keys and values is not.
///
/// Reads every page but those inside of long values, once, and writes nothing. Takes up memory for a bit a page, and for
/// a page for each level of a tree.
package struct DataFileCheck: ~Copyable {
  var reader: DataFileReader
  var use: PageUse
  var tiling: PageTiling
  let newest: MetaPage

  /// Checks the file at `path`, which nobody may write to meanwhile; throws what is wrong. Answers how many pages it had
  /// to look at: none where there is no file, or it is empty, or it may not be read.
  package static func run(_ path: String) throws(DataFileDamage) -> Int {
    guard let descriptor = DataFileReader.openFile(path) else { return 0 }
    var reader = try DataFileReader(descriptor)
    if reader.size == 0 { return 0 }
    let newest = try MetaPage.newest(&reader)
    var check = DataFileCheck(reader, newest)
    try check.checkFreeList()
    try check.checkTables()
    try check.use.requireWholeFile()
    return check.reader.pagesRead
  }

  private init(_ reader: consuming DataFileReader, _ newest: MetaPage) {
    self.newest = newest
    use = PageUse(lastPage: newest.lastPage, pagesInFile: UInt64(reader.size / reader.pageSize))
    tiling = PageTiling(pageSize: reader.pageSize)
    self.reader = reader
  }

  private mutating func checkFreeList() throws(DataFileDamage) {
    let tree = newest.freeList
    guard tree.flags == TreeRecord.integerKeys else {
      throw DataFileDamage("its list of free pages has the flags \(tree.flags)")
    }
    try checkTree(tree, .freeList)
  }

  private mutating func checkTables() throws(DataFileDamage) {
    let tree = newest.main
    guard tree.flags == 0 else { throw DataFileDamage("its main table has the flags \(tree.flags)") }
    try checkTree(tree, .main)
  }
}
