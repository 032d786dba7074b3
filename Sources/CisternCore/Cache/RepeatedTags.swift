extension [String] {
  /// The tags of this list, each once, in the order of their first places. The empty tag is no tag.
  @usableFromInline
  var withoutRepetitions: [String] {
    // Most values have one tag, or none.
    if count <= 1 { return first?.isEmpty ?? true ? [] : self }
    var seen: Set<String> = []
    return filter { !$0.isEmpty && seen.insert($0).inserted }
  }
}
