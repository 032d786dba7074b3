extension Cache: CustomStringConvertible {
  /// The name, the types and the contents of the cache. Takes the cache's locks.
  public var description: String {
    let statistics = statistics
    var parts = ["\(Key.self) to \(Value.self)", "memory: \(statistics.memory)"]
    if !name.isEmpty { parts.insert("\"\(name)\"", at: 0) }
    if let disk = statistics.disk { parts.append("second tier: \(disk)") }
    return "Cache(\(parts.joined(separator: "; ")))"
  }
}
