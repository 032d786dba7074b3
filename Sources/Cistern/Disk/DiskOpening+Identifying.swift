import LMDB

extension DiskOpening {
  /// Compares the data file with what its mark says of it, and reports contents that are gone, or older than they were.
  ///
  /// For a file that is not as the store left it. Constant time.
  mutating func compareHistory(_ mark: BootMark?) {
    guard let mark, mark.identity != nil, let noted = mark.history else { return }
    guard let head = DataFileHead(of: path) else {
      if (DiskDirectory.fileSize(path) ?? 0) == 0 {
        add(.filesReplaced, "the data file was removed or emptied; the store goes on without what was in it")
      }
      return
    }
    guard head.isOlder(than: noted), !isUndoneByPowerCut(head, noted, mark) else { return }
    add(
      .rolledBack,
      "the data file is of commit \(head.transaction), and the store left it at \(noted.transaction); "
        + "values that were removed or replaced since may be back")
  }

  /// A power cut may undo the newest commit, and the mark's note of it may outlive that.
  private func isUndoneByPowerCut(_ head: DataFileHead, _ noted: DataFileHistory, _ mark: BootMark) -> Bool {
    head.transaction + 1 == noted.transaction && (mark.boot.isEmpty || mark.boot != presentBoot())
  }

  /// Sets the file aside if it belongs to another store than the mark; gives a file of an older version an identity.
  ///
  /// Another process that has the store open has another file open then, and finds at its next commit that this one
  /// replaces it. Only a file without an identity stays: that process may be of an older version, and have it open.
  mutating func requireIdentity(
    _ file: DiskFile, _ expected: StoreIdentity?, isAlone: Bool
  ) throws(LMDBError) -> DiskFile {
    if file.isNew || (file.identity != nil && (expected == nil || file.identity == expected)) { return file }
    if file.identity == nil, expected == nil || !isAlone {
      try file.assignIdentity()
      return file
    }
    try file.close()
    withdrawRollback()
    do {
      try setAside("it belongs to another store")
    } catch {
      throw LMDBError(.ioError, operation: "set another store's file aside", message: "\(error)")
    }
    return try DiskFile.open(directory: directory, options: environmentOptions())
  }

  /// Whether a store that only reads may use the file: not if it belongs to another store than the mark.
  func isReadable(_ file: DiskFile, _ expected: StoreIdentity?) -> Bool {
    expected == nil || file.identity == expected
  }
}
