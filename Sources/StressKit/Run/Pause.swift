/// Sleeps. A cancelled sleep is a shorter one; a loop around it does not spin.
func pause(_ duration: Duration) async {
  do { try await Task.sleep(for: duration) } catch { await Task.yield() }
}
