extension Environment {
  /// Returns the newest commit of the data file, or nil if the head of the file cannot be read.
  package func history() throws(LMDBError) -> DataFileHistory? {
    try withDataFile("read the data file's head") { (descriptor) throws(LMDBError) in
      DataFileHead(descriptor)?.history
    }
  }
}
