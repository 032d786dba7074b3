extension Environment {
  /// How far the data file has come; nil if its head cannot be read.
  package func history() throws(LMDBError) -> DataFileHistory? {
    try withDataFile("read the data file's head") { (descriptor) throws(LMDBError) in
      DataFileHead(descriptor)?.history
    }
  }
}
