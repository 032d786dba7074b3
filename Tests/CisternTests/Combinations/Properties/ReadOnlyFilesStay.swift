extension Property {
  /// A read-only store never changes its file.
  static let readOnlyFilesStay = Property("read-only files stay as they are") { evidence in
    evidence.isFileUnchanged ? [] : ["the file of a read-only store has changed by itself"]
  }
}
