extension Store: CustomStringConvertible {
  /// The store's caches and their contents. Takes the locks of the caches one after the other.
  public var description: String {
    let statistics = statistics
    let names = statistics.caches.keys.sorted().map { "\"\($0)\"" }
    var parts = [names.isEmpty ? "no caches" : "caches \(names.joined(separator: ", "))"]
    parts.append("memory: \(statistics.memory)")
    if let disk = statistics.disk { parts.append("second tier: \(disk)") }
    return "Store(\(parts.joined(separator: "; ")))"
  }
}
