// An explicit hydrodynamics code on an unstructured mesh of hexahedra: declarations.
#ifndef HYDRO_H
#define HYDRO_H

#include <cmath>
#include <cstdlib>
#include <memory>
#include <vector>

typedef double Real_t;
typedef int Index_t;
typedef int Int_t;

#define CORNERS 8
#define FACES 6
#define MODES 4

enum BoundaryMask {
  LOW_X = 0x001, LOW_X_SYMMETRY = 0x002, LOW_X_FREE = 0x004,
  HIGH_X = 0x008, HIGH_X_SYMMETRY = 0x010, HIGH_X_FREE = 0x020,
  LOW_Y = 0x040, LOW_Y_SYMMETRY = 0x080, LOW_Y_FREE = 0x100,
  HIGH_Y = 0x200, HIGH_Y_SYMMETRY = 0x400, HIGH_Y_FREE = 0x800,
  LOW_Z = 0x01000, LOW_Z_SYMMETRY = 0x02000, LOW_Z_FREE = 0x04000,
  HIGH_Z = 0x08000, HIGH_Z_SYMMETRY = 0x10000, HIGH_Z_FREE = 0x20000
};

#define X_LOW_MASK (LOW_X | LOW_X_SYMMETRY | LOW_X_FREE)
#define X_HIGH_MASK (HIGH_X | HIGH_X_SYMMETRY | HIGH_X_FREE)
#define Y_LOW_MASK (LOW_Y | LOW_Y_SYMMETRY | LOW_Y_FREE)
#define Y_HIGH_MASK (HIGH_Y | HIGH_Y_SYMMETRY | HIGH_Y_FREE)
#define Z_LOW_MASK (LOW_Z | LOW_Z_SYMMETRY | LOW_Z_FREE)
#define Z_HIGH_MASK (HIGH_Z | HIGH_Z_SYMMETRY | HIGH_Z_FREE)

enum { VolumeFailure = -1, ViscosityFailure = -2 };

// Functions of one name for each precision.
inline float Root(float x) { return sqrtf(x); }
inline double Root(double x) { return sqrt(x); }
inline float Magnitude(float x) { return fabsf(x); }
inline double Magnitude(double x) { return fabs(x); }

template <typename T>
inline T Square(const T& x) { return x * x; }

template <typename T>
inline T Smaller(T a, T b) { return (a < b) ? a : b; }

template <typename T>
inline T Larger(T a, T b) { return (a > b) ? a : b; }

template <typename T>
T* Allocate(size_t count) { return static_cast<T*>(malloc(sizeof(T) * count)); }

template <typename T>
void Release(T** pointer)
{
  if (*pointer != NULL) {
    free(*pointer);
    *pointer = NULL;
  }
}

// What a user may choose.
struct Options {
  Index_t edge;      // elements along an edge
  Int_t steps;       // steps at most
  Int_t regions;
  bool quiet;
};

// Sums over all elements.
struct Totals {
  Real_t mass, internal, kinetic;
};

class Mesh {
public:
  Mesh(Index_t edge, Int_t regions);
  ~Mesh();

  void AllocateGradients(Index_t elements, Index_t all)
  {
    m_delv_xi.resize(elements);
    m_delv_eta.resize(elements);
    m_delv_zeta.resize(elements);
    m_delx_xi.resize(all);
    m_delx_eta.resize(all);
    m_delx_zeta.resize(all);
  }

  void DeallocateGradients()
  {
    m_delx_zeta.clear(); m_delx_eta.clear(); m_delx_xi.clear();
    m_delv_zeta.clear(); m_delv_eta.clear(); m_delv_xi.clear();
  }

  void AllocateStrains(Index_t elements)
  {
    m_dxx.resize(elements);
    m_dyy.resize(elements);
    m_dzz.resize(elements);
  }

  void DeallocateStrains() { m_dzz.clear(); m_dyy.clear(); m_dxx.clear(); }

  // By node
  Real_t& x(Index_t i) { return m_x[i]; }
  Real_t& y(Index_t i) { return m_y[i]; }
  Real_t& z(Index_t i) { return m_z[i]; }
  Real_t& xd(Index_t i) { return m_xd[i]; }
  Real_t& yd(Index_t i) { return m_yd[i]; }
  Real_t& zd(Index_t i) { return m_zd[i]; }
  Real_t& xdd(Index_t i) { return m_xdd[i]; }
  Real_t& ydd(Index_t i) { return m_ydd[i]; }
  Real_t& zdd(Index_t i) { return m_zdd[i]; }
  Real_t& fx(Index_t i) { return m_fx[i]; }
  Real_t& fy(Index_t i) { return m_fy[i]; }
  Real_t& fz(Index_t i) { return m_fz[i]; }
  Real_t& nodalMass(Index_t i) { return m_nodalMass[i]; }

  // Nodes on planes of symmetry
  Index_t symmX(Index_t i) { return m_symmX[i]; }
  Index_t symmY(Index_t i) { return m_symmY[i]; }
  Index_t symmZ(Index_t i) { return m_symmZ[i]; }
  bool symmXempty() { return m_symmX.empty(); }
  bool symmYempty() { return m_symmY.empty(); }
  bool symmZempty() { return m_symmZ.empty(); }

  // Corners of elements by node
  Index_t nodeElemCount(Index_t i) { return m_nodeElemStart[i + 1] - m_nodeElemStart[i]; }
  Index_t* nodeElemCorners(Index_t i) { return &m_nodeElemCorners[m_nodeElemStart[i]]; }

  // By element
  Index_t& regElemSize(Index_t i) { return m_regElemSize[i]; }
  Index_t& regNum(Index_t i) { return m_regNum[i]; }
  Index_t* regElemlist(Int_t r) { return m_regElemlist[r]; }
  Index_t* nodelist(Index_t i) { return &m_nodelist[Index_t(CORNERS) * i]; }
  Index_t& lxim(Index_t i) { return m_lxim[i]; }
  Index_t& lxip(Index_t i) { return m_lxip[i]; }
  Index_t& letam(Index_t i) { return m_letam[i]; }
  Index_t& letap(Index_t i) { return m_letap[i]; }
  Index_t& lzetam(Index_t i) { return m_lzetam[i]; }
  Index_t& lzetap(Index_t i) { return m_lzetap[i]; }
  Int_t& elemBC(Index_t i) { return m_elemBC[i]; }
  Real_t& dxx(Index_t i) { return m_dxx[i]; }
  Real_t& dyy(Index_t i) { return m_dyy[i]; }
  Real_t& dzz(Index_t i) { return m_dzz[i]; }
  Real_t& delv_xi(Index_t i) { return m_delv_xi[i]; }
  Real_t& delv_eta(Index_t i) { return m_delv_eta[i]; }
  Real_t& delv_zeta(Index_t i) { return m_delv_zeta[i]; }
  Real_t& delx_xi(Index_t i) { return m_delx_xi[i]; }
  Real_t& delx_eta(Index_t i) { return m_delx_eta[i]; }
  Real_t& delx_zeta(Index_t i) { return m_delx_zeta[i]; }
  Real_t& e(Index_t i) { return m_e[i]; }
  Real_t& p(Index_t i) { return m_p[i]; }
  Real_t& q(Index_t i) { return m_q[i]; }
  Real_t& ql(Index_t i) { return m_ql[i]; }
  Real_t& qq(Index_t i) { return m_qq[i]; }
  Real_t& v(Index_t i) { return m_v[i]; }
  Real_t& vnew(Index_t i) { return m_vnew[i]; }
  Real_t& volo(Index_t i) { return m_volo[i]; }
  Real_t& delv(Index_t i) { return m_delv[i]; }
  Real_t& vdov(Index_t i) { return m_vdov[i]; }
  Real_t& arealg(Index_t i) { return m_arealg[i]; }
  Real_t& ss(Index_t i) { return m_ss[i]; }
  Real_t& elemMass(Index_t i) { return m_elemMass[i]; }
  const std::vector<Real_t>& energies() const { return m_e; }
  const std::vector<Real_t>& masses() const { return m_elemMass; }

  // Constants and cutoffs
  Real_t u_cut() const { return m_u_cut; }
  Real_t e_cut() const { return m_e_cut; }
  Real_t p_cut() const { return m_p_cut; }
  Real_t q_cut() const { return m_q_cut; }
  Real_t v_cut() const { return m_v_cut; }
  Real_t hgcoef() const { return m_hgcoef; }
  Real_t qstop() const { return m_qstop; }
  Real_t monoq_max_slope() const { return m_monoq_max_slope; }
  Real_t monoq_limiter() const { return m_monoq_limiter; }
  Real_t ss4o3() const { return m_ss4o3; }
  Real_t qlc_monoq() const { return m_qlc_monoq; }
  Real_t qqc_monoq() const { return m_qqc_monoq; }
  Real_t qqc() const { return m_qqc; }
  Real_t eosvmax() const { return m_eosvmax; }
  Real_t eosvmin() const { return m_eosvmin; }
  Real_t pmin() const { return m_pmin; }
  Real_t emin() const { return m_emin; }
  Real_t dvovmax() const { return m_dvovmax; }
  Real_t refdens() const { return m_refdens; }

  Real_t& time() { return m_time; }
  Real_t& deltatime() { return m_deltatime; }
  Real_t& dtcourant() { return m_dtcourant; }
  Real_t& dthydro() { return m_dthydro; }
  Real_t& dtmax() { return m_dtmax; }
  Real_t& stoptime() { return m_stoptime; }
  Int_t& cycle() { return m_cycle; }
  Index_t& sizeX() { return m_sizeX; }
  Index_t& numElem() { return m_numElem; }
  Index_t& numNode() { return m_numNode; }
  Int_t& numReg() { return m_numReg; }
  Int_t cost() const { return m_cost; }

  static Int_t s_kernels;  // how many passes over all elements were made
  static void Count() { ++s_kernels; }

private:
  void BuildNodes(Index_t edge);
  void BuildElements(Index_t edge);
  void BuildCorners();
  void BuildRegions(Int_t regions);
  void BuildBoundaries(Index_t edge);

  std::vector<Real_t> m_x, m_y, m_z;
  std::vector<Real_t> m_xd, m_yd, m_zd;
  std::vector<Real_t> m_xdd, m_ydd, m_zdd;
  std::vector<Real_t> m_fx, m_fy, m_fz;
  std::vector<Real_t> m_nodalMass;
  std::vector<Index_t> m_symmX, m_symmY, m_symmZ;
  std::vector<Index_t> m_nodelist;
  std::vector<Index_t> m_lxim, m_lxip, m_letam, m_letap, m_lzetam, m_lzetap;
  std::vector<Int_t> m_elemBC;
  std::vector<Real_t> m_dxx, m_dyy, m_dzz;
  std::vector<Real_t> m_delv_xi, m_delv_eta, m_delv_zeta;
  std::vector<Real_t> m_delx_xi, m_delx_eta, m_delx_zeta;
  std::vector<Real_t> m_e, m_p, m_q, m_ql, m_qq;
  std::vector<Real_t> m_v, m_volo, m_vnew, m_delv, m_vdov, m_arealg, m_ss, m_elemMass;

  Int_t m_numReg;
  Int_t m_cost;
  Index_t* m_regElemSize;
  Index_t* m_regNum;
  Index_t** m_regElemlist;
  Index_t* m_nodeElemStart;
  Index_t* m_nodeElemCorners;

  const Real_t m_e_cut, m_p_cut, m_q_cut, m_v_cut, m_u_cut;
  const Real_t m_hgcoef, m_ss4o3, m_qstop, m_monoq_max_slope, m_monoq_limiter;
  const Real_t m_qlc_monoq, m_qqc_monoq, m_qqc, m_eosvmax, m_eosvmin;
  const Real_t m_pmin, m_emin, m_dvovmax, m_refdens;

  Real_t m_time, m_deltatime, m_dtcourant, m_dthydro, m_dtmax, m_stoptime;
  Int_t m_cycle;
  Index_t m_sizeX, m_numElem, m_numNode;
};

#endif
