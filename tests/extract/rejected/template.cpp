template <typename T> class Grid {
public:
  T* at(int i) { return &m_data[i; }
private:
  T* m_data;
};
